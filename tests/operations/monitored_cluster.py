"""A whole warpsmith (tests/integration/cluster.py) with a real Prometheus that scrapes it, and readers of both.

Expressions are expanded as Grafana expands them: macros of its PostgreSQL data source, $__rate_interval, variables.
"""
import csv
import io
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request

import yaml

import dashboard_files as files

sys.path.insert(0, str(files.SOURCE / "tests" / "integration"))
from cluster import BIN, Cluster, postgres_program  # noqa: E402

SCRAPE_SECONDS = 1
STEP_SECONDS = 2
RATE_INTERVAL_SECONDS = max(STEP_SECONDS + SCRAPE_SECONDS, 4 * SCRAPE_SECONDS)


class Prometheus:
    """Scrapes the addresses of each job, with the rules of deploy/prometheus."""

    def __init__(self, jobs):
        self.folder = tempfile.mkdtemp(prefix="ws-prometheus-", dir="/tmp")
        rules = [str(path) for path in sorted((files.PROMETHEUS / "rules").glob("*.rules.yml"))]
        config = {
            "global": {
                "scrape_interval": f"{SCRAPE_SECONDS}s",
                "scrape_timeout": f"{SCRAPE_SECONDS}s",
                "evaluation_interval": "1s",
            },
            "rule_files": rules,
            "scrape_configs": [
                {"job_name": job, "static_configs": [{"targets": addresses}]} for job, addresses in jobs.items()
            ],
        }
        with open(self.folder + "/prometheus.yml", "w", encoding="utf-8") as out:
            yaml.safe_dump(config, out)
        self.process = None
        for _ in range(5):
            if self.start():
                break
        else:
            raise AssertionError(f"Prometheus does not start:\n{self.log()}")

    def start(self):
        """False where somebody else took the port that was free a moment ago."""
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        self.address = f"http://127.0.0.1:{port}"
        with open(self.folder + "/log", "ab") as log:
            self.process = subprocess.Popen(
                [
                    "prometheus",
                    f"--config.file={self.folder}/prometheus.yml",
                    f"--storage.tsdb.path={self.folder}/data",
                    f"--web.listen-address=127.0.0.1:{port}",
                    "--log.level=warn",
                ],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        end = time.monotonic() + 60
        while time.monotonic() < end and self.process.poll() is None:
            try:
                with urllib.request.urlopen(self.address + "/-/ready", timeout=5) as reply:
                    if reply.status == 200:
                        return True
            except OSError:
                pass
            time.sleep(0.1)
        self.stop_process()
        return False

    def log(self):
        with open(self.folder + "/log", errors="replace", encoding="utf-8") as text:
            return "".join(text.readlines()[-20:])

    def stop_process(self):
        if self.process and self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(30)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()

    def stop(self):
        self.stop_process()
        shutil.rmtree(self.folder, ignore_errors=True)

    def ask(self, path, **parameters):
        address = f"{self.address}/api/v1/{path}?{urllib.parse.urlencode(parameters)}"
        try:
            with urllib.request.urlopen(address, timeout=30) as reply:
                return json.load(reply)["data"]
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{parameters}: {error.read().decode(errors='replace')}") from error

    def instant(self, expression):
        """Labels and value of each series now."""
        return [(one["metric"], float(one["value"][1])) for one in self.ask("query", query=expression)["result"]]

    def over_time(self, expression, begin, end):
        """Labels and numbers of each series; what is not a number is left out, as Grafana draws nothing for it."""
        found = []
        for one in self.ask("query_range", query=expression, start=begin, end=end, step=STEP_SECONDS)["result"]:
            numbers = [float(value) for _, value in one["values"] if value not in ("NaN", "+Inf", "-Inf")]
            if numbers:
                found.append((one["metric"], numbers))
        return found


class ServiceManager:
    """Listens as systemd does to a service of Type=notify: `heard`, the datagrams so far."""

    def __init__(self, path):
        self.path, self.heard = path, []
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(path)
        self.socket.settimeout(0)

    def listen(self):
        while True:
            try:
                self.heard.append(self.socket.recv(4096).decode())
            except BlockingIOError:
                return self.heard

    def is_ready(self):
        return any("READY=1" in told.splitlines() for told in self.listen())


class MonitoredCluster(Cluster):
    def __init__(self, **options):
        self.prometheus = None
        self.managers = {}  # of the processes, by their names
        super().__init__(**options)
        jobs = {
            job: [self.metrics_address(name) for name in sorted(self.processes) if name.startswith(job)]
            for job in ("coordinator", "gateway", "worker")
        }
        self.prometheus = Prometheus(jobs)
        self.begin = time.time()
        self.sql("SELECT create_reader('grafana')")

    def __exit__(self, kind, *rest):
        if self.prometheus:
            if kind is not None:
                print("--- prometheus\n" + self.prometheus.log())
            self.prometheus.stop()
        super().__exit__(kind, *rest)
        for manager in self.managers.values():
            manager.socket.close()

    def start(self, name, arguments, **options):
        if name != "postgres":
            arguments = [*arguments, "--metrics-address", "127.0.0.1:0", "--metrics-port-file", self.port_file(name)]
            self.managers[name] = ServiceManager(f"{self.folder}/{name}.notify")
            self.environment["NOTIFY_SOCKET"] = self.managers[name].path
        super().start(name, arguments, **options)
        self.environment.pop("NOTIFY_SOCKET", None)

    def readiness(self, name):
        """The status of a process's /readyz."""
        try:
            with urllib.request.urlopen(f"http://{self.metrics_address(name)}/readyz", timeout=10) as reply:
                return reply.status
        except urllib.error.HTTPError as error:
            return error.code

    def start_standby(self):
        """A second coordinator, which waits for the first one's end."""
        self.start("standby", [BIN + "/warpsmith-coordinator", "--listen", f"unix:{self.folder}/standby.sock", "--database",
                               self.database, "--gateway", self.gateway_address, "--election-patience-seconds", "600"])
        return self.managers["standby"]

    def start_ill_worker(self, name):
        """A worker of a device that it calls wedged; it goes with the cluster."""
        program = os.environ["WARPSMITH_TEST_DIR"] + "/ill_worker"
        super().start(name, [program, self.coordinator_address, name])

    def port_file(self, name):
        return f"{self.folder}/{name}.metrics-port"

    def metrics_address(self, name):
        path = self.port_file(name)
        Cluster.wait(lambda: os.path.exists(path) and os.path.getsize(path) > 0, f"the metrics address of {name}")
        with open(path, encoding="utf-8") as text:
            return f"127.0.0.1:{text.read().strip()}"

    def read(self, statement, database="postgres"):
        """Rows of a statement, as the dashboards' role reads them."""
        done = subprocess.run(
            [
                postgres_program("psql"),
                f"host={self.folder}/pg user=grafana dbname={database}",
                "-X",
                "--csv",
                "-v",
                "ON_ERROR_STOP=1",
                "-P",
                "null=\\N",
                "-c",
                statement,
            ],
            capture_output=True,
            text=True,
            cwd="/",
        )
        if done.returncode != 0:
            raise AssertionError(f"{done.stderr}\n{statement}")
        return [
            {key: None if value == "\\N" else value for key, value in row.items()}
            for row in csv.DictReader(io.StringIO(done.stdout))
        ]

    def copy_database(self, name):
        """A copy to write made-up rows into; the cluster goes on with its own."""
        self.sql(f"CREATE DATABASE {name}")
        source = subprocess.Popen([postgres_program("pg_dump"), "-d", self.database], stdout=subprocess.PIPE, cwd="/")
        target = self.database.replace("dbname=postgres", f"dbname={name}")
        subprocess.run(
            [postgres_program("psql"), target, "-Xq", "-v", "ON_ERROR_STOP=1"],
            stdin=source.stdout,
            check=True,
            stdout=subprocess.DEVNULL,
            cwd="/",
        )
        source.stdout.close()
        if source.wait() != 0:
            raise AssertionError("pg_dump failed")

    def write_copy(self, name, statements):
        target = self.database.replace("dbname=postgres", f"dbname={name}")
        subprocess.run(
            [postgres_program("psql"), target, "-Xq", "-v", "ON_ERROR_STOP=1"],
            input=statements,
            text=True,
            check=True,
            stdout=subprocess.DEVNULL,
            cwd="/",
        )


def moment(seconds):
    return time.strftime("'%Y-%m-%dT%H:%M:%SZ'", time.gmtime(seconds))


def expand_sql(statement, begin, end, variables):
    """As Grafana's PostgreSQL data source expands it; `variables`: one value each."""
    for name, value in variables.items():
        quoted = "'" + value.replace("'", "''") + "'"
        statement = statement.replace("${" + name + ":sqlstring}", quoted)
    statement = statement.replace("$__interval", f"{STEP_SECONDS}s")
    statement = re.sub(
        r"\$__timeFilter\(([^)]*)\)", lambda m: f"{m.group(1)} BETWEEN {moment(begin)} AND {moment(end)}", statement
    )

    def group(match):
        column, interval = (part.strip().strip("'") for part in match.group(1).split(","))
        seconds = int(interval.removesuffix("s"))
        return f'floor(extract(epoch from {column})/{seconds})*{seconds} AS "time"'

    statement = re.sub(r"\$__timeGroupAlias\(([^)]*)\)", group, statement)
    if "$" in statement:
        raise AssertionError(f"something is not expanded: {statement}")
    return statement


def expand_promql(expression, variables):
    """`variables`: values of each; none: all."""
    expression = expression.replace("$__rate_interval", f"{RATE_INTERVAL_SECONDS}s")
    for name, values in variables.items():
        expression = expression.replace("$" + name, "(" + "|".join(map(re.escape, values)) + ")" if values else ".+")
    if "$" in expression:
        raise AssertionError(f"something is not expanded: {expression}")
    return expression
