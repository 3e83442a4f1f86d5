"""deploy/compose: services, secrets, mounts and flags fit each other, the programs and the files beside it."""
import glob
import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest

import yaml

from programs import DEPLOY, check_arguments, check_server, longest_stop, read

FOLDER = os.path.join(DEPLOY, "compose")
PROGRAMS = {"coordinator": "warpsmith-coordinator", "gateway": "warpsmith-gateway", "worker": "warpsmith-worker",
            "worker-emulated": "warpsmith-worker"}


def secrets_of(service):
    """Files under /run/secrets, each with the secret that it is."""
    listed = [{"source": s, "target": s} if isinstance(s, str) else s for s in service.get("secrets", [])]
    return {secret["target"]: secret["source"] for secret in listed}


def seconds(text):
    return int(re.fullmatch(r"(\d+)s", text)[1])


class ComposeTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        # ${NAME:-default}: the defaults, as Compose fills them in without a .env.
        text = re.sub(r"\$\{[A-Z_]+:-([^}]*)\}", r"\1", read("compose", "compose.yaml"))
        if "$" in text:
            raise AssertionError("a variable without a default: " + text[text.index("$"):][:40])
        cls.file = yaml.safe_load(text)
        cls.services = cls.file["services"]

    def test_only_known_keys(self):
        known = {"image", "build", "command", "entrypoint", "depends_on", "environment", "secrets", "volumes", "networks",
                 "ports", "healthcheck", "restart", "read_only", "cap_drop", "security_opt", "tmpfs", "shm_size",
                 "stop_grace_period", "profiles", "deploy", "user", "init"}
        for name, service in self.services.items():
            self.assertLessEqual(set(service), known, name)
            if "healthcheck" in service:
                self.assertLessEqual(set(service["healthcheck"]),
                                     {"test", "interval", "timeout", "retries", "start_period"}, name)
        self.assertLessEqual({k for k in self.file if not k.startswith("x-")},
                             {"name", "services", "volumes", "networks", "secrets"})

    def test_programs_know_their_flags(self):
        for name, program in PROGRAMS.items():
            service = self.services[name]
            given = check_arguments(self, program, service["command"], name)
            if program != "warpsmith-worker":
                check_server(self, given, name)
            self.assertGreater(seconds(service["stop_grace_period"]), longest_stop(program, given), name)
            for flag, value in given.items():
                if value.startswith("/run/secrets/"):
                    self.assertIn(os.path.basename(value), secrets_of(service), f"{name}: {flag}")
            # What it writes lies on a volume, the root is read-only.
            self.assertTrue(service["read_only"], name)
            if "--data-dir" in given:
                self.assertTrue(any(v.endswith(":" + given["--data-dir"]) for v in service["volumes"]), name)

    def test_services_find_each_other(self):
        names = {}
        for name, service in self.services.items():
            networks = service["networks"]
            for network in networks:
                self.assertIn(network, self.file["networks"], name)
                names.setdefault(network, set()).add(name)
                if isinstance(networks, dict):
                    names[network].update((networks[network] or {}).get("aliases", []))
        for name, program in PROGRAMS.items():
            given = check_arguments(self, program, self.services[name]["command"], name)
            reachable = set().union(*(names[n] for n in self.services[name]["networks"]))
            for flag in ("--gateway", "--coordinator"):
                if flag in given:
                    host, port = given[flag].split(":")
                    self.assertIn(host, reachable, name)
                    target = check_arguments(self, PROGRAMS[host], self.services[host]["command"], host)
                    self.assertEqual(target["--listen"], "0.0.0.0:" + port, name)
        # Only who must reaches the database, and no worker reaches the gateway's way out.
        self.assertEqual(names["database"], {"postgres", "coordinator", "database-reader", "grafana"})
        self.assertTrue(self.file["networks"]["database"]["internal"])
        for worker in ("worker", "worker-emulated"):
            self.assertEqual(list(self.services[worker]["networks"]), ["cluster"])

    def test_ordering(self):
        for name, service in self.services.items():
            for other, wanted in service.get("depends_on", {}).items():
                self.assertEqual(wanted, {"condition": "service_healthy"}, name)
                # Ours have their health check from the image, if not from here.
                self.assertTrue("healthcheck" in self.services[other] or other in PROGRAMS, f"{name}: {other}")

    def test_every_mounted_file_exists(self):
        for name, service in self.services.items():
            for volume in service.get("volumes", []):
                source, target = volume.split(":")[:2]
                self.assertTrue(target.startswith("/"), volume)
                if source.startswith("."):
                    self.assertTrue(os.path.exists(os.path.join(FOLDER, source)), f"{name}: {volume}")
                    self.assertTrue(volume.endswith(":ro"), f"{name}: {volume}")
                else:
                    self.assertIn(source, self.file["volumes"], name)
            if "build" in service:
                build = service["build"]
                context = os.path.normpath(os.path.join(FOLDER, build["context"]))
                dockerfile = os.path.join(context, build["dockerfile"])
                self.assertTrue(os.path.exists(dockerfile), name)
                with open(dockerfile) as text:
                    self.assertRegex(text.read(), rf"(?m)^FROM \S+ AS {build['target']}$")

    def test_secrets_are_files_that_the_script_makes(self):
        folder = tempfile.mkdtemp(prefix="ws-secrets-")
        self.addCleanup(shutil.rmtree, folder)
        subprocess.run([DEPLOY + "/secrets.sh", folder], check=True, capture_output=True, timeout=60)
        used = set()
        for name, service in self.services.items():
            used.update(secrets_of(service).values())
            for variable, value in service.get("environment", {}).items():
                self.assertNotRegex(variable, r"(?i)(key|token|password|secret)$", f"{name}: a secret in the environment")
                if variable.upper().endswith("_FILE"):
                    self.assertIn(os.path.basename(value), secrets_of(service), f"{name}: {variable}")
        self.assertEqual(used, set(self.file["secrets"]))
        for name, secret in self.file["secrets"].items():
            self.assertEqual(secret["file"], "./secrets/" + name)
            self.assertTrue(os.path.getsize(f"{folder}/{name}") > 0, name)
        # The authority's key is nobody's but the script's, and the models' keys are the gateway's.
        self.assertNotIn("ca.key", used)
        keys = [name for name, service in self.services.items() if any("keys" in v for v in service.get("volumes", []))]
        self.assertEqual(keys, ["gateway"])

    def test_grafana_gets_what_its_files_ask_for(self):
        service = self.services["grafana"]
        mounts = {volume.split(":")[1]: volume.split(":")[0] for volume in service["volumes"]}
        hosts, files = set(), []
        for file in glob.glob(f"{DEPLOY}/grafana/provisioning/*/*.y*ml"):
            with open(file) as text:
                content = text.read()
            plain = "\n".join(line for line in content.splitlines() if not line.startswith("#"))
            self.assertLessEqual(set(re.findall(r"\$(WARPSMITH_[A-Z_]+)", plain)), set(service["environment"]), file)
            for path in re.findall(r"\$__file\{(.*?)\}", plain):
                files.append(path)
                self.assertIn(os.path.basename(path), secrets_of(service), file)
            for path in re.findall(r"\n +path: (/\S+)", plain):
                files.append(path)
                self.assertIn(path, mounts, file)
            hosts.update(source["url"].split("://")[-1].split(":")[0]
                         for source in yaml.safe_load(content).get("datasources", []))
        self.assertEqual(hosts, {"prometheus", "postgres"})
        self.assertEqual(len(files), 2)
        for host in hosts:
            self.assertTrue(set(self.services[host]["networks"]) & set(service["networks"]), host)

    def test_prometheus_asks_where_they_answer(self):
        with open(DEPLOY + "/prometheus/prometheus.yml") as text:
            asked = {c["job_name"]: c for c in yaml.safe_load(text)["scrape_configs"]}
        targets = [t for job in asked.values() for s in job.get("static_configs", []) for t in s["targets"]]
        for file in glob.glob(DEPLOY + "/prometheus/targets/*.json"):
            with open(file) as text:
                targets += [t for group in json.load(text) for t in group["targets"]]
        for name in ("coordinator", "gateway", "worker"):
            given = check_arguments(self, PROGRAMS[name], self.services[name]["command"], name)
            self.assertIn(f"{name}:{given['--metrics-address'].split(':')[1]}", targets)

    def test_images_have_a_version(self):
        for name, service in self.services.items():
            tag = service["image"].rpartition("/")[2].partition(":")[2]
            self.assertTrue(tag and tag != "latest", name)

    def test_nothing_is_open_to_the_world_by_default(self):
        for name, service in self.services.items():
            for port in service.get("ports", []):
                self.assertTrue(port.startswith("127.0.0.1:"), f"{name}: {port}")

    def test_the_gateways_models_are_known(self):
        for file in ("compose/gateway.yaml", "kubernetes/base/config/gateway.yaml"):
            models = yaml.safe_load(read(*file.split("/")))["models"]
            self.assertEqual(models, [{"name": "catalog", "provider": "catalog"}], file)


if __name__ == "__main__":
    unittest.main(verbosity=2)
