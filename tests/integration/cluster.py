"""A whole warpsmith on this machine, for tests: real PostgreSQL, real programs, Unix sockets, one folder.

Programs are found in WARPSMITH_BIN_DIR. PostgreSQL never runs as root: where the test does, it runs as `postgres`.
"""
import glob
import json
import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
import time

BIN = os.environ["WARPSMITH_BIN_DIR"]
SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def problem(name):
    return os.path.join(SOURCE, "tests", "problems", name + ".py")


def postgres_program(name):
    found = sorted(glob.glob("/usr/lib/postgresql/*/bin/" + name))
    return found[-1] if found else shutil.which(name)


def demoted():
    """Arguments for subprocess that make a child run as an unprivileged user, where we are root."""
    if os.geteuid() != 0:
        return {}
    user = pwd.getpwnam("postgres")
    return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}


class Cluster:
    def __init__(self, workers=1, gateway_config=None, lease_seconds=5, environment=None):
        self.folder = tempfile.mkdtemp(prefix="ws-", dir="/tmp")
        os.chmod(self.folder, 0o755)
        self.processes = {}
        self.gateway_config = gateway_config
        self.lease_seconds = lease_seconds
        self.environment = dict(os.environ, **(environment or {}))
        self.gateway_address = f"unix:{self.folder}/gateway.sock"
        self.coordinator_address = f"unix:{self.folder}/coordinator.sock"
        self.start_postgres(initialise=True)
        self.start_gateway()
        self.start_coordinator()
        for number in range(workers):
            self.start_worker(number)

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        for name in list(self.processes):
            if name != "postgres":
                self.stop(name)
        self.stop("postgres", signal.SIGINT)
        if kind is not None:
            for log in sorted(glob.glob(self.folder + "/*.log")):
                with open(log, errors="replace") as text:
                    print(f"--- {os.path.basename(log)}\n" + "".join(text.readlines()[-25:]))
        shutil.rmtree(self.folder, ignore_errors=True)

    def start(self, name, arguments, **options):
        log = open(f"{self.folder}/{name}.log", "ab")
        self.processes[name] = subprocess.Popen(arguments, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                                env=self.environment, start_new_session=True, **options)
        log.close()

    def stop(self, name, number=signal.SIGTERM):
        process = self.processes.pop(name)
        if process.poll() is None:
            process.send_signal(number)
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                raise AssertionError(f"{name} did not stop within 30 s of a signal")

    def kill(self, name):
        process = self.processes.pop(name)
        process.kill()
        process.wait()

    def start_postgres(self, initialise=False):
        data = self.folder + "/pg"
        if initialise:
            os.mkdir(data, 0o700)
            user = demoted()
            if user:
                os.chown(data, user["user"], user["group"])
            subprocess.run([postgres_program("initdb"), "-D", data, "-U", "warpsmith", "-A", "trust", "--no-sync"],
                           check=True, stdout=subprocess.DEVNULL, cwd="/", **user)
        self.start("postgres", [postgres_program("postgres"), "-D", data, "-k", data, "-c", "listen_addresses=",
                                "-c", "fsync=off"], cwd="/", **demoted())
        self.database = f"host={data} user=warpsmith dbname=postgres"
        self.wait(lambda: self.sql("select 1", check=False) == "1", "PostgreSQL")

    def start_gateway(self):
        arguments = [BIN + "/warpsmith-gateway", "--listen", self.gateway_address]
        if self.gateway_config:
            path = self.folder + "/gateway.yaml"
            with open(path, "w") as out:
                out.write(self.gateway_config)
            arguments += ["--config", path]
        self.start("gateway", arguments)

    def start_coordinator(self):
        self.start("coordinator", [BIN + "/warpsmith-coordinator", "--listen", self.coordinator_address, "--database",
                                   self.database, "--gateway", self.gateway_address, "--lease-seconds",
                                   str(self.lease_seconds)])
        self.wait(lambda: self.cli("status", check=False).returncode == 0, "the coordinator")

    def start_worker(self, number):
        self.start(f"worker{number}", [BIN + "/warpsmith-worker", "--coordinator", self.coordinator_address,
                                       "--worker-id", f"w{number}", "--data-dir", f"{self.folder}/worker{number}",
                                       "--device", "emulated"])

    def sql(self, text, check=True):
        done = subprocess.run([postgres_program("psql"), self.database, "-XAtc", text], capture_output=True, text=True,
                              check=check, cwd="/")
        return done.stdout.strip()

    def cli(self, *arguments, check=True, timeout=120):
        done = subprocess.run([BIN + "/warpsmith", *arguments, "--coordinator", self.coordinator_address],
                              capture_output=True, text=True, timeout=timeout, env=self.environment)
        if check and done.returncode != 0:
            raise AssertionError(f"warpsmith {' '.join(arguments)}: exit {done.returncode}\n{done.stdout}{done.stderr}")
        return done

    def json(self, *arguments, **options):
        return json.loads(self.cli(*arguments, "--json", **options).stdout)

    def submit(self, name, *arguments):
        answer = self.json("submit", problem(name), *arguments)
        return answer["search_id"]

    def search(self, search_id):
        return self.json("tree", search_id)["search"]

    def wait_for_end(self, search_id, seconds):
        end = time.monotonic() + seconds
        search = {"state": "unknown: no coordinator answered"}
        while time.monotonic() < end:
            # Right after a database or a coordinator came back nothing may answer yet: exit status 4, try again.
            done = self.cli("tree", search_id, "--json", check=False)
            if done.returncode not in (0, 4):
                raise AssertionError(f"warpsmith tree: exit {done.returncode}\n{done.stdout}{done.stderr}")
            if done.returncode == 4:
                time.sleep(0.3)
                continue
            search = json.loads(done.stdout)["search"]
            if search["state"] in ("SEARCH_STATE_DONE", "SEARCH_STATE_FAILED", "SEARCH_STATE_CANCELLED"):
                return search
            time.sleep(0.3)
        raise AssertionError(f"the search has not ended after {seconds} s: {search['state']}; tasks:\n" +
                             self.sql("select kind, state, count(*) from task group by 1, 2"))

    @staticmethod
    def wait(ready, what, seconds=60):
        end = time.monotonic() + seconds
        while not ready():
            if time.monotonic() > end:
                raise AssertionError(f"{what} is not ready after {seconds} s")
            time.sleep(0.05)


def start_fake_model(test, candidates, script=None):
    """Runs tests/support/fake_openai_server.py (a fake model, real HTTP) until the test's end, with files of the honest
    corpus; `script`: its actions for every request. Returns a gateway.yaml that knows it."""
    folder = tempfile.mkdtemp(prefix="ws-fake-", dir="/tmp")
    test.addCleanup(shutil.rmtree, folder)
    port_file = folder + "/port"
    arguments = [sys.executable, os.path.join(SOURCE, "tests/support/fake_openai_server.py"), "--port-file", port_file]
    for name, files in candidates.items():
        for file in files:
            arguments += ["--candidate", f"{name}={SOURCE}/tests/corpus/honest/{file}"]
    if script:
        with open(folder + "/script.json", "w") as out:
            json.dump({"scripted": script}, out)
        arguments += ["--script", folder + "/script.json"]
    server = subprocess.Popen(arguments, start_new_session=True)
    test.addCleanup(server.wait)
    test.addCleanup(server.kill)
    Cluster.wait(lambda: os.path.exists(port_file) and os.path.getsize(port_file) > 0, "the fake server")
    with open(port_file) as text:
        port = text.read().strip()
    return f"""
models:
  - name: fake
    provider: openai_compatible
    base_url: http://127.0.0.1:{port}{"/scripted" if script else ""}/v1
    model: fake-model
    api_key_env: FAKE_MODEL_KEY
"""
