"""What cannot happen in a test's cluster (a GPU's sensors, faults, quarantine), made up: series of a process, and which
expressions of the dashboards need such series, or rows in a copy of the database."""
import http.server
import threading

# Panels whose series do not exist in this run, for want of a GPU or of a fault.
MADE_UP_SERIES = {
    "warpsmith / Fleet: Worker restarts A",
    "warpsmith / Fleet: Throttled A",
    "warpsmith / Fleet: Temperature A",
    "warpsmith / Fleet: Power A",
    "warpsmith / Fleet: Device memory used A",
    "warpsmith / Models: Share of calls that failed A",
    "warpsmith / Models: Retries A",
    "warpsmith / Models: Waiting for a limit A",
    "warpsmith / Models: Waiting for a limit B",
    "warpsmith / Models: Calls that waited A",
    "warpsmith / Queue and database: Database errors A",
}
MADE_UP_ROWS = {
    "warpsmith / Queue and database: Tasks given up A",
    "warpsmith / Queue and database: The queue now A",
    *(
        f"{board}: annotation Quarantine"
        for board in (
            "warpsmith / Search",
            "warpsmith / Batch",
            "warpsmith / Fleet",
            "warpsmith / Models",
            "warpsmith / Queue and database",
        )
    ),
}


class MadeUpProcess:
    """Serves series that this run cannot have, as a process of warpsmith would, counters growing by one a scrape."""

    NAMES = [
        ("counter", "warpsmith_worker_restarts_total", 'node="n1",reason="died"'),
        ("gauge", "warpsmith_gpu_throttled", 'gpu="0"'),
        ("gauge", "warpsmith_gpu_temperature_celsius", 'gpu="0"'),
        ("gauge", "warpsmith_gpu_power_watts", 'gpu="0"'),
        ("gauge", "warpsmith_gpu_memory_used_bytes", 'gpu="0"'),
        ("counter", "warpsmith_llm_requests_total", 'provider="openai",model="m",code="server"'),
        ("counter", "warpsmith_llm_requests_total", 'provider="openai",model="m",code="ok"'),
        ("counter", "warpsmith_llm_retries_total", 'provider="openai",model="m",reason="server"'),
        ("histogram", "warpsmith_llm_limit_wait_seconds", 'model="m"'),
        ("counter", "warpsmith_llm_limit_waits_total", 'model="m",limit="tokens"'),
        ("counter", "warpsmith_database_errors_total", 'code="unavailable"'),
    ]

    def __init__(self):
        scrapes = 0

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                nonlocal scrapes
                scrapes += 1
                lines, told = [], set()
                for kind, name, labels in MadeUpProcess.NAMES:
                    if name not in told:
                        lines.append(f"# TYPE {name} {kind}")
                        told.add(name)
                    if kind == "histogram":
                        for edge in ("0.1", "1", "+Inf"):
                            lines.append(f'{name}_bucket{{{labels},le="{edge}"}} {scrapes}')
                        lines += [f"{name}_sum{{{labels}}} {scrapes / 20}", f"{name}_count{{{labels}}} {scrapes}"]
                    else:
                        lines.append(f"{name}{{{labels}}} {scrapes if kind == 'counter' else 1}")
                body = ("\n".join(lines) + "\n").encode()
                self.send_response(200)
                self.send_header("Content-Type", "text/plain; version=0.0.4")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def stop(self):
        self.server.shutdown()
        self.server.server_close()
