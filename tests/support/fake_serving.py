"""What the FAKE servers of models have in common: scenarios out of a file, a record of what was received, answers, waits
that notice a client that hangs up, and the start on a port of the system's choice. Standard library only."""

import json
import os
import socket
import ssl
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Scenarios:
    """Request n of a scenario gets action n; the last one repeats."""

    def __init__(self, script):
        self.lock = threading.Lock()
        self.requests = []
        self.counts = {}
        self.scenarios = json.load(open(script)) if script else {}

    def action(self, scenario):
        with self.lock:
            number = self.counts.get(scenario, 0)
            self.counts[scenario] = number + 1
        actions = self.scenarios.get(scenario) or [{}]
        return actions[min(number, len(actions) - 1)]


class RecordingHandler(BaseHTTPRequestHandler):
    """GET /_requests gives what was received. A subclass has `state`, a Scenarios, and says what is answered in
    respond(record)."""

    protocol_version = "HTTP/1.1"
    state = None

    def log_message(self, *_):
        pass

    def do_GET(self):
        if self.path == "/_requests":
            with self.state.lock:
                body = json.dumps(self.state.requests).encode()
            self.answer(200, {"Content-Type": "application/json"}, body)
        else:
            self.take(None)

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.take(json.loads(body) if body else None)

    def scenario(self):
        return self.path.strip("/").split("/")[0]

    def take(self, body):
        record = {"scenario": self.scenario(), "method": self.command, "path": self.path, "closed_early": False,
                  "headers": {name.lower(): value for name, value in self.headers.items()}, "body": body}
        with self.state.lock:
            self.state.requests.append(record)
        try:
            self.respond(record)
        except (BrokenPipeError, ConnectionResetError):
            record["closed_early"] = True
            self.close_connection = True

    def answer(self, status, headers, body):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        if "Content-Length" not in headers:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def send_chunk(self, data):
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()

    def wait(self, seconds):
        """Sleeps, and notices when the client hangs up meanwhile."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            time.sleep(min(0.02, max(0.0, end - time.monotonic())))
            try:
                if self.connection.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT) == b"":
                    raise ConnectionResetError()
            except BlockingIOError:
                pass

    def cut(self):
        self.close_connection = True
        try:
            self.connection.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass


class QuietServer(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256

    def handle_error(self, request, client_address):
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)


def serve(handler, port_file, port=0, certificate=None):
    """Does not return. The port stands in port_file once it listens. `certificate`: a file with it and its key, for TLS."""
    server = QuietServer(("127.0.0.1", port), handler)
    if certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        # Shaken hands on the connection's own thread, so that one that does not is nobody else's trouble.
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    with open(port_file + ".part", "w") as file:
        file.write(f"{server.server_address[1]}\n")
    os.rename(port_file + ".part", port_file)
    server.serve_forever()
