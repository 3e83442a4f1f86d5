"""A whole installation as deploy/ and docs/operations.md set it up: secrets by deploy/secrets.sh, a database with a
password, TLS and tokens everywhere, workers as a Slurm array, a coordinator that stands by, a backup and its restore.
"""
import os
import re
import shutil
import signal
import subprocess
import sys
import unittest

from programs import BIN, DEPLOY, SOURCE
from slurm_site import SlurmSite, free_ports

sys.path.insert(0, SOURCE + "/tests/integration")
sys.path.insert(0, SOURCE + "/tests/chaos")

import chaos  # noqa: E402
from cluster import Cluster, demoted, postgres_program  # noqa: E402

LEASE_SECONDS = 120  # no lease runs out in this test: what is freed is freed by a worker that drained


class Installation(Cluster):
    def start_postgres(self, initialise=False):
        self.secrets = self.folder + "/secrets"
        subprocess.run([DEPLOY + "/secrets.sh", self.secrets], check=True, capture_output=True, timeout=60)
        self.gateway_port, *self.coordinator_ports = free_ports(4)
        self.gateway_address = f"localhost:{self.gateway_port}"
        self.coordinator_address = f"localhost:{self.coordinator_ports[0]}"
        self.environment.update(WARPSMITH_TLS_CA=self.secret("ca.pem"), WARPSMITH_TOKEN_FILE=self.secret("operator.token"))
        data = self.folder + "/pg"
        os.mkdir(data, 0o700)
        password = self.folder + "/password"
        shutil.copy(self.secret("database.password"), password)
        user = demoted()
        if user:
            os.chown(data, user["user"], user["group"])
            os.chown(password, user["user"], user["group"])
        subprocess.run([postgres_program("initdb"), "-D", data, "-U", "warpsmith", "-A", "scram-sha-256", "--pwfile",
                        password, "--no-sync"], check=True, stdout=subprocess.DEVNULL, cwd="/", **user)
        self.start("postgres", [postgres_program("postgres"), "-D", data, "-k", data, "-c", "listen_addresses=", "-c",
                                "fsync=off"], cwd="/", **user)
        self.database = f"host={data} user=warpsmith dbname=postgres"
        self.wait(lambda: self.sql("select 1", check=False) == "1", "PostgreSQL")

    def secret(self, name):
        return f"{self.secrets}/{name}"

    def server_flags(self, name):
        return ["--tls-certificate", self.secret(name + ".pem"), "--tls-key", self.secret(name + ".key"), "--tls-ca",
                self.secret("ca.pem"), "--tokens", self.secret(name + ".tokens"), "--token-file",
                self.secret(name + ".token")]

    def start_gateway(self):
        self.start("gateway", [BIN + "/warpsmith-gateway", "--listen", f"0.0.0.0:{self.gateway_port}", "--metrics-address",
                               "127.0.0.1:0", *self.server_flags("gateway")])

    def run_coordinator(self, name, port, database=None):
        self.start(name, [BIN + "/warpsmith-coordinator", "--listen", f"0.0.0.0:{port}", "--database",
                          database or self.database, "--database-password-file", self.secret("database.password"),
                          "--gateway", self.gateway_address, "--lease-seconds", str(LEASE_SECONDS),
                          "--election-patience-seconds", "31536000", "--metrics-address", "127.0.0.1:0",
                          *self.server_flags("coordinator")])

    def start_coordinator(self):
        self.run_coordinator("coordinator", self.coordinator_ports[0])
        self.wait(lambda: self.cli("status", check=False).returncode == 0, "the coordinator")

    def with_password(self):
        with open(self.secret("database.password")) as text:
            return dict(os.environ, PGPASSWORD=text.read())

    def sql(self, text, check=True, database=None):
        done = subprocess.run([postgres_program("psql"), database or self.database, "-XAtc", text], capture_output=True,
                              text=True, check=check, cwd="/", env=self.with_password())
        return done.stdout.strip()

    def log(self, name):
        with open(f"{self.folder}/{name}.log", errors="replace") as text:
            return text.read()

    def connected(self):
        return sorted(w["worker_id"] for w in self.json("status").get("workers", []) if w.get("connected"))


class InstallationTest(unittest.TestCase):
    def test_slurm_takeover_and_backup(self):
        with Installation(workers=0) as cluster:
            os.mkdir(cluster.folder + "/slurm")
            site = SlurmSite(cluster.folder + "/slurm")
            self.addCleanup(site.stop)
            site.start()
            try:
                self.workers_of_a_slurm_array(cluster, site)
            except Exception:
                print(site.logs())
                raise
            finally:
                site.stop()
            self.takeover(cluster)
            self.backup_and_restore(cluster)
            self.nothing_secret_shows(cluster)

    def workers_of_a_slurm_array(self, cluster, site):
        settings = cluster.folder + "/slurm.env"
        with open(settings, "w") as out:
            out.write(f"WARPSMITH_COORDINATOR={cluster.coordinator_address}\n"
                      f"WARPSMITH_TOKEN_FILE={cluster.secret('worker.token')}\n"
                      f"WARPSMITH_TLS_CA={cluster.secret('ca.pem')}\nWARPSMITH_DATA_DIR={cluster.folder}/workers\n"
                      f"WARPSMITH_WORKER={BIN}/warpsmith-worker\nWARPSMITH_GPUS=none\n")

        def submit():
            # What it was called with must not reach the workers.
            site.environment["ANTHROPIC_API_KEY"] = "not for workers"
            # Three tasks where there are two GPUs: the third must wait.
            text = site.call("sbatch", "--parsable", "--array=0-2", "--cpus-per-task=2", "--mem=1G",
                             DEPLOY + "/slurm/workers.sbatch", settings)
            return text.strip()

        search = self.search = cluster.submit("softmax", "--rounds", "2", "--parents", "1", "--ideas", "2", "--implementations", "2")
        first = submit()
        cluster.wait(lambda: cluster.connected() == ["worker-0", "worker-1"], "the array's workers", 120)
        self.assertEqual(site.jobs()[first + "_2"][0], "PENDING")
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/cmdline", "rb") as line, open(f"/proc/{pid}/environ", "rb") as environment:
                    if cluster.folder.encode() + b"/workers" in line.read():
                        self.assertNotIn(b"ANTHROPIC", environment.read())
            except OSError:
                continue
        site.call("scontrol", "hold", first + "_2")  # not in the freed place: it would go on working

        # A drain in the middle of the work.
        cluster.wait(lambda: int(cluster.sql("select count(*) from evaluation")) >= 1, "the first evaluation", 240)
        site.call("scancel", "--signal=TERM", first + "_0", first + "_1")
        cluster.wait(lambda: all(site.jobs()[f"{first}_{n}"][0] not in ("RUNNING", "COMPLETING") for n in (0, 1)),
                     "the end of both jobs", 90)
        self.assertEqual([site.jobs()[f"{first}_{n}"] for n in (0, 1)], [("COMPLETED", "0:0")] * 2)
        cluster.wait(lambda: cluster.connected() == [], "the end of both sessions", 30)
        on_devices = "kind in ('intake', 'evaluate')"
        cluster.wait(lambda: cluster.sql(f"select count(*) from task where state = 'running' and {on_devices}") == "0",
                     "the return of what had not begun", 10)
        self.assertEqual(cluster.search(search)["state"], "SEARCH_STATE_RUNNING",
                         "the search was over before the drain; nothing was shown")
        recorded = int(cluster.sql("select count(*) from evaluation"))
        site.call("scancel", first)

        # New workers under the old names end the search.
        second = submit()
        cluster.wait(lambda: cluster.connected() == ["worker-0", "worker-1"], "the new workers", 120)
        self.assertEqual(cluster.wait_for_end(search, 300)["state"], "SEARCH_STATE_DONE")
        self.assertGreater(int(cluster.sql("select count(*) from evaluation")), recorded)
        for what, query in {**chaos.LOST, **chaos.DOUBLED}.items():
            self.assertEqual(cluster.sql(query), "0", what)
        # Slurm signals every process of a job, children too; none of that is a death, a failure or a candidate's fault.
        self.assertEqual(cluster.sql("select coalesce(sum(worker_deaths), 0) from task"), "0")
        self.assertEqual(cluster.sql("select count(*) from task where concat(log, last_error) like '%SIGTERM%'"), "0")
        self.assertEqual(cluster.sql("select count(*) from view_candidate where outcome = 'launch_error'"), "0")
        site.call("scancel", "--signal=TERM", second + "_0", second + "_1")
        site.call("scancel", second + "_2")
        cluster.wait(lambda: all(state[0] not in ("RUNNING", "COMPLETING") for state in site.jobs().values()),
                     "the end of the array", 90)

    def takeover(self, cluster):
        """One that stands by ends at once when it is told to, and leads once the other one has ended."""
        port = cluster.coordinator_ports[1]
        for number in (1, 2):
            cluster.run_coordinator(f"standby{number}", port)
            cluster.wait(lambda: "waiting for its end" in cluster.log(f"standby{number}"), "the standby", 30)
            if number == 1:
                process = cluster.processes.pop("standby1")
                process.send_signal(signal.SIGTERM)
                self.assertEqual(process.wait(10), 0)
        before = cluster.json("list")
        cluster.stop("coordinator")
        cluster.coordinator_address = f"localhost:{port}"
        cluster.wait(lambda: cluster.cli("status", check=False).returncode == 0, "the take-over", 30)
        self.assertEqual(cluster.json("list"), before)

    def backup_and_restore(self, cluster):
        """The commands of docs/operations.md, one after the other, as they stand there."""
        with open(SOURCE + "/docs/operations.md") as text:
            section = re.search(r"^## Backup and restore$(.*?)^## ", text.read(), re.MULTILINE | re.DOTALL)[1]
        commands = [line.strip() for line in section.split("\n") if line.startswith("    ")]
        self.assertGreaterEqual(len(commands), 4)
        folder = cluster.folder + "/backup"
        os.mkdir(folder)
        environment = cluster.with_password()
        environment.update(PGHOST=cluster.folder + "/pg", PGUSER="warpsmith", PGDATABASE="postgres")
        environment["PATH"] = os.path.dirname(postgres_program("pg_dump")) + ":" + environment["PATH"]
        for command in commands:
            done = subprocess.run(["bash", "-euc", command], cwd=folder, env=environment, capture_output=True, text=True,
                                  timeout=120)
            self.assertEqual(done.returncode, 0, f"{command}\n{done.stdout}{done.stderr}")
        # A coordinator on the restored database shows what the old one shows, to the byte.
        before = cluster.json("tree", self.search)
        cluster.run_coordinator("restored", cluster.coordinator_ports[2],
                                cluster.database.replace("dbname=postgres", "dbname=warpsmith_restored"))
        cluster.coordinator_address = f"localhost:{cluster.coordinator_ports[2]}"
        cluster.wait(lambda: cluster.cli("status", check=False).returncode == 0, "the restored coordinator", 30)
        self.assertEqual(cluster.json("tree", self.search), before)
        restored = cluster.database.replace("dbname=postgres", "dbname=warpsmith_restored")
        for table in cluster.sql("select tablename from pg_tables where schemaname = 'public' order by 1").split():
            if table in ("leader", "worker", "deployment"):  # a start of the restored coordinator shows there
                continue
            count = f"select count(*) from {table}"
            self.assertEqual(cluster.sql(count, database=restored), cluster.sql(count), table)
        self.assertEqual(cluster.sql("select has_table_privilege('warpsmith_reader', 'view_search', 'select')",
                                     database=restored), "t")

    def nothing_secret_shows(self, cluster):
        secrets = []
        for name in os.listdir(cluster.secrets):
            if name.endswith((".token", ".password")):
                with open(cluster.secret(name)) as text:
                    secrets.append(text.read().strip())
        self.assertEqual(len(secrets), 8)
        for name, process in cluster.processes.items():
            with open(f"/proc/{process.pid}/cmdline") as line, open(f"/proc/{process.pid}/environ") as environment:
                shown = line.read() + environment.read() + cluster.log(name)
            for secret in secrets:
                self.assertNotIn(secret, shown, name)


if __name__ == "__main__":
    unittest.main(verbosity=2)
