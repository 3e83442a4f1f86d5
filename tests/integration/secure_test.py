"""Whole programs with mutual TLS and tokens on every connection, as docs/security.md sets a lab up."""
import os
import socket
import subprocess
import time
import unittest

from cluster import BIN, Cluster, problem


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


class SecureCluster(Cluster):
    """The coordinator listens on all addresses, so that it would refuse to start without TLS and tokens."""

    def start_postgres(self, initialise=False):
        self.coordinator_port, self.gateway_port = free_ports(2)
        self.coordinator_address = f"localhost:{self.coordinator_port}"
        self.gateway_address = f"localhost:{self.gateway_port}"
        os.mkdir(self.folder + "/secrets", 0o755)
        self.openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                     "-subj", "/CN=lab authority", "-keyout", self.secret("ca.key"), "-out", self.secret("ca.pem"))
        for name in ("coordinator", "gateway", "node7", "alice"):
            self.certificate(name)
        for role, name, servers in (("operator", "alice", "coordinator"), ("viewer", "vera", "coordinator"),
                                    ("worker", "node7", "coordinator"), ("gateway", "gateway", "coordinator"),
                                    ("gateway", "coordinator", "gateway")):
            subprocess.run([BIN + "/warpsmith", "token", "new", "--role", role, "--name", name, "--output",
                            self.secret(name + ".token"), "--tokens", self.secret(servers + ".tokens")],
                           check=True, capture_output=True)
        self.environment.update(self.as_user("alice"))
        super().start_postgres(initialise)

    def secret(self, name):
        return f"{self.folder}/secrets/{name}"

    def openssl(self, *arguments):
        subprocess.run(["openssl", *arguments], check=True, capture_output=True)

    def certificate(self, name):
        base = self.secret(name)
        self.openssl("req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj",
                     f"/CN={name}", "-keyout", base + ".key", "-out", base + ".csr")
        with open(base + ".ext", "w") as out:
            out.write("subjectAltName=DNS:localhost,IP:127.0.0.1\n")
        self.openssl("x509", "-req", "-in", base + ".csr", "-CA", self.secret("ca.pem"), "-CAkey",
                     self.secret("ca.key"), "-CAcreateserial", "-days", "2", "-extfile", base + ".ext", "-out",
                     base + ".pem")
        os.chmod(base + ".key", 0o600)

    def as_user(self, name, certificate="alice"):
        return {"WARPSMITH_TLS_CA": self.secret("ca.pem"), "WARPSMITH_TLS_CERTIFICATE": self.secret(certificate + ".pem"),
                "WARPSMITH_TLS_KEY": self.secret(certificate + ".key"),
                "WARPSMITH_TOKEN_FILE": self.secret(name + ".token")}

    def server_flags(self, name):
        return ["--tls-certificate", self.secret(name + ".pem"), "--tls-key", self.secret(name + ".key"),
                "--tls-client-ca", self.secret("ca.pem"), "--tls-ca", self.secret("ca.pem"),
                "--tokens", self.secret(name + ".tokens"), "--token-file", self.secret(name + ".token")]

    def start_gateway(self):
        self.start("gateway", [BIN + "/warpsmith-gateway", "--listen", f"0.0.0.0:{self.gateway_port}", "--coordinator",
                               self.coordinator_address, *self.server_flags("gateway")])

    def start_coordinator(self):
        self.start("coordinator", [BIN + "/warpsmith-coordinator", "--listen", f"0.0.0.0:{self.coordinator_port}",
                                   "--database", self.database, "--gateway", self.gateway_address, "--lease-seconds",
                                   str(self.lease_seconds), *self.server_flags("coordinator")])
        self.wait(lambda: self.cli("status", check=False).returncode == 0, "the coordinator")

    def start_worker(self, number, worker_id="node7"):
        self.start(f"worker{number}", [BIN + "/warpsmith-worker", "--coordinator", self.coordinator_address,
                                       "--worker-id", worker_id, "--data-dir", f"{self.folder}/worker{number}",
                                       "--device", "emulated", "--tls-ca", self.secret("ca.pem"), "--tls-certificate",
                                       self.secret("node7.pem"), "--tls-key", self.secret("node7.key"),
                                       "--token-file", self.secret("node7.token")])

    def log(self, name):
        with open(f"{self.folder}/{name}.log", errors="replace") as text:
            return text.read()

    def cli_as(self, environment, *arguments):
        return subprocess.run([BIN + "/warpsmith", *arguments, "--coordinator", self.coordinator_address],
                              capture_output=True, text=True, timeout=120,
                              env={**os.environ, **{k: v for k, v in environment.items() if v}})

    def tokens(self):
        for name in ("alice", "vera", "node7", "gateway", "coordinator"):
            with open(self.secret(name + ".token")) as text:
                yield text.read().strip()


class SecureTest(unittest.TestCase):
    def test_a_lab(self):
        with SecureCluster(workers=1) as cluster:
            cluster.wait(lambda: any(w["connected"] for w in cluster.json("status")["workers"]), "the worker")
            cluster.wait(lambda: cluster.json("status")["gateway_reachable"], "the gateway")
            cluster.wait(lambda: "rates are shared" in cluster.log("gateway"), "the sharing of rates")

            # Who may do what.
            search = cluster.submit("softmax", "--rounds", "1")
            vera = cluster.as_user("vera")
            self.assertEqual(cluster.cli_as(vera, "list").returncode, 0)
            refused = cluster.cli_as(vera, "cancel", search)
            self.assertEqual(refused.returncode, 1)
            self.assertIn("role operator", refused.stderr)
            self.assertIn("--token-file", cluster.cli_as({**vera, "WARPSMITH_TOKEN_FILE": ""}, "list").stderr)
            bare = {**vera, "WARPSMITH_TLS_CERTIFICATE": "", "WARPSMITH_TLS_KEY": ""}
            self.assertIn("client certificate", cluster.cli_as(bare, "list").stderr)
            self.assertIn("--tls-ca", cluster.cli_as({}, "list").stderr)

            # A worker that would be another.
            cluster.start_worker(1, worker_id="node8")
            cluster.wait(lambda: "the token is node7's" in cluster.log("worker1"), "the refusal of node8")
            cluster.stop("worker1")
            self.assertEqual([w["worker_id"] for w in cluster.json("status")["workers"]], ["node7"])

            cluster.cli("cancel", search)
            audit = cluster.json("audit", "--search", search)["entries"]
            self.assertEqual([(e["actor"], e["action"]) for e in audit],
                             [("alice", "OperatorService/CancelSearch"), ("alice", "OperatorService/SubmitSearch")])

            # A renewed certificate is used without a restart, a token's end is one too.
            cluster.certificate("coordinator")
            time.sleep(6)
            self.assertEqual(cluster.cli("status").returncode, 0)
            with open(cluster.secret("coordinator.tokens")) as text:
                lines = [line for line in text if " vera" not in line]
            with open(cluster.secret("coordinator.tokens"), "w") as out:
                out.writelines(lines)
            cluster.wait(lambda: "not known" in cluster.cli_as(vera, "list").stderr, "the end of vera's token")

            # Nothing secret in a log or on a command line.
            secrets = list(cluster.tokens())
            for name, process in cluster.processes.items():
                with open(f"/proc/{process.pid}/cmdline") as text:
                    line = text.read()
                for secret in secrets:
                    self.assertNotIn(secret, line)
                    self.assertNotIn(secret, cluster.log(name))

    def test_off_loopback_needs_both(self):
        for program, more in (("warpsmith-gateway", []), ("warpsmith-coordinator", ["--database", "host=/nowhere"])):
            done = subprocess.run([BIN + "/" + program, "--listen", "0.0.0.0:0", *more], capture_output=True, text=True,
                                  timeout=60)
            self.assertEqual(done.returncode, 1)
            self.assertIn("--tls-certificate", done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
