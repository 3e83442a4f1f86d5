"""deploy/kubernetes: kustomize builds it, every manifest keeps to its kind's schema, and what is named is there."""
import copy
import os
import shutil
import subprocess
import tempfile
import unittest

import jsonschema
import yaml

from programs import DEPLOY, SOURCE, check_arguments, check_server, flags_of, longest_stop

FOLDER = os.path.join(DEPLOY, "kubernetes")
BUILT = ["base", "front", "postgres", "autoscaling", "monitoring", "overlays/lab", "overlays/single-node",
         "overlays/emulated"]
PROGRAMS = {"coordinator": "warpsmith-coordinator", "gateway": "warpsmith-gateway", "worker": "warpsmith-worker"}


def build(folder):
    done = subprocess.run(["kubectl", "kustomize", os.path.join(FOLDER, folder)], capture_output=True, text=True,
                          timeout=120)
    if done.returncode != 0:
        raise AssertionError(f"kubectl kustomize {folder}: {done.stderr}")
    return [manifest for manifest in yaml.safe_load_all(done.stdout) if manifest]


def key(manifest):
    return manifest["apiVersion"] + "/" + manifest["kind"]


class Schemas:
    def __init__(self):
        with open(os.path.join(SOURCE, "tests/deploy/schemas.yaml")) as text:
            self.all = yaml.safe_load(text)

    def check(self, manifest):
        """Raises with the field's path."""
        kinds = self.all["kinds"]
        if key(manifest) not in kinds:
            raise AssertionError(f"tests/deploy/schemas.yaml has no kind {key(manifest)}")
        schema = {
            "definitions": self.all["definitions"], "type": "object", "additionalProperties": False,
            "required": ["apiVersion", "kind", "metadata"] + [part for part in kinds[key(manifest)] if part != "spec" or
                                                              manifest["kind"] != "Namespace"],
            "properties": {"apiVersion": {}, "kind": {}, "metadata": {"$ref": "#/definitions/metadata"},
                           **kinds[key(manifest)]}}
        jsonschema.Draft7Validator.check_schema(schema)
        errors = sorted(jsonschema.Draft7Validator(schema).iter_errors(manifest), key=lambda e: list(map(str, e.path)))
        if errors:
            raise AssertionError("\n".join(
                f"{key(manifest)} {manifest['metadata'].get('name')}: {'.'.join(map(str, error.absolute_path))}: "
                f"{error.message}" for error in errors))


class Manifests:
    def __init__(self, manifests):
        self.manifests = manifests

    def of(self, kind, name=None):
        return [m for m in self.manifests if m["kind"] == kind and name in (None, m["metadata"]["name"])]

    def pods(self):
        """(name, owner's manifest, pod's spec)"""
        for manifest in self.manifests:
            if manifest["kind"] in ("Deployment", "StatefulSet"):
                yield manifest["metadata"]["name"], manifest, manifest["spec"]["template"]["spec"]


class KubernetesTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.schemas = Schemas()
        cls.built = {folder: Manifests(build(folder)) for folder in BUILT}
        cls.whole = {folder: cls.built[folder] for folder in ("overlays/lab", "overlays/single-node",
                                                              "overlays/emulated")}

    def test_every_kustomization_is_built(self):
        found = sorted(os.path.relpath(folder, FOLDER) for folder, _, files in os.walk(FOLDER)
                       if "kustomization.yaml" in files)
        self.assertEqual(found, sorted(BUILT))

    def test_manifests_keep_to_their_schemas(self):
        for folder, manifests in self.built.items():
            self.assertTrue(manifests.manifests, folder)
            for manifest in manifests.manifests:
                self.schemas.check(manifest)
                self.assertEqual(manifest["metadata"].get("namespace", "warpsmith"), "warpsmith", key(manifest))

    def test_the_schemas_find_what_is_wrong(self):
        good = self.built["base"].of("Deployment", "coordinator")[0]

        def container(manifest):
            return manifest["spec"]["template"]["spec"]["containers"][0]

        def misspell(m):
            container(m)["livenessprobe"] = container(m).pop("livenessProbe")

        def text_for_number(m):
            m["spec"]["replicas"] = "2"

        def privileged(m):
            container(m)["securityContext"]["privileged"] = True

        def world_readable(m):
            m["spec"]["template"]["spec"]["volumes"][1]["secret"]["defaultMode"] = 0o444

        def root(m):
            m["spec"]["template"]["spec"]["securityContext"]["runAsUser"] = 0

        def no_name(m):
            del m["metadata"]["name"]

        def bad_quantity(m):
            container(m)["resources"]["limits"]["memory"] = "4 GB"

        for change in (misspell, text_for_number, privileged, world_readable, root, no_name, bad_quantity):
            wrong = copy.deepcopy(good)
            change(wrong)
            with self.assertRaises(AssertionError, msg=change.__name__):
                self.schemas.check(wrong)

    def test_programs_know_their_flags(self):
        for folder, manifests in self.whole.items():
            seen = set()
            for name, _, spec in manifests.pods():
                if name not in PROGRAMS:
                    continue
                seen.add(name)
                where = f"{folder}: {name}"
                program = PROGRAMS[name]
                container, = spec["containers"]
                given = check_arguments(self, program, container["args"], where)
                if name != "worker":
                    check_server(self, given, where)
                self.assertGreater(spec["terminationGracePeriodSeconds"], longest_stop(program, given), where)
                # Its files lie in folders that are mounted.
                mounts = [m["mountPath"] for m in container["volumeMounts"]]
                for flag, value in given.items():
                    if value.startswith("/"):
                        self.assertTrue(any(value == m or value.startswith(m + "/") for m in mounts), f"{where}: {flag}")
                # And it listens where the pod says.
                ports = {port["name"]: port["containerPort"] for port in container["ports"]}
                self.assertEqual(given["--metrics-address"], f"0.0.0.0:{ports['metrics']}", where)
                if "grpc" in ports:
                    self.assertEqual(given["--listen"], f"0.0.0.0:{ports['grpc']}", where)
                for kind in ("startupProbe", "livenessProbe", "readinessProbe"):
                    probe = container[kind]["httpGet"]
                    self.assertIn(probe["path"], ("/healthz", "/readyz"), where)
                    self.assertEqual(probe["port"], "metrics", where)
                # Only being unable to work is a reason to be left alone, only being dead one to be killed.
                self.assertEqual(container["livenessProbe"]["httpGet"]["path"], "/healthz", where)
            self.assertEqual(seen, set(PROGRAMS), folder)

    def test_names_lead_somewhere(self):
        for folder, manifests in self.whole.items():
            services = {s["metadata"]["name"]: s for s in manifests.of("Service")}
            pods = {name: (owner, spec) for name, owner, spec in manifests.pods()}
            for name, service in services.items():
                owner, spec = next((o, s) for o, s in pods.values() if service["spec"]["selector"].items() <=
                                   o["spec"]["template"]["metadata"]["labels"].items())
                named = {port["name"] for container in spec["containers"] for port in container["ports"]}
                for port in service["spec"]["ports"]:
                    self.assertIn(port["targetPort"], named, f"{folder}: service {name}")
            for name, (owner, spec) in pods.items():
                self.assertLessEqual(owner["spec"]["selector"]["matchLabels"].items(),
                                     owner["spec"]["template"]["metadata"]["labels"].items())
                volumes = {v["name"] for v in spec["volumes"]} | {
                    c["metadata"]["name"] for c in owner["spec"].get("volumeClaimTemplates", [])}
                mounted = {m["name"] for c in spec["containers"] for m in c["volumeMounts"]}
                self.assertEqual(volumes, mounted, f"{folder}: {name}")
                maps = {m["metadata"]["name"] for m in manifests.of("ConfigMap")}
                for volume in spec["volumes"]:
                    if "configMap" in volume:
                        self.assertIn(volume["configMap"]["name"], maps, f"{folder}: {name}")
                for container in spec["containers"]:
                    for source in container.get("envFrom", []):
                        self.assertIn(source["configMapRef"]["name"], maps, f"{folder}: {name}")
            # The addresses that are passed on.
            for name, (_, spec) in pods.items():
                for argument in spec["containers"][0].get("args", []):
                    for flag in ("--gateway=", "--coordinator="):
                        if argument.startswith(flag):
                            host, port = argument[len(flag):].split(":")
                            self.assertIn(int(port), [p["port"] for p in services[host]["spec"]["ports"]], argument)
            for budget in manifests.of("PodDisruptionBudget"):
                owner, _ = pods[budget["metadata"]["name"]]
                if "minAvailable" in budget["spec"]:  # or else no node could ever be drained
                    self.assertLess(budget["spec"]["minAvailable"], owner["spec"]["replicas"], folder)
            for scaled in manifests.of("ScaledObject"):
                target = scaled["spec"]["scaleTargetRef"]
                self.assertTrue(manifests.of(target["kind"], target["name"]), folder)
                for trigger in scaled["spec"]["triggers"]:
                    self.assertTrue(manifests.of("TriggerAuthentication", trigger["authenticationRef"]["name"]), folder)

    def test_programs_get_only_variables_that_they_know(self):
        for folder, manifests in self.whole.items():
            settings = [m for m in manifests.of("ConfigMap") if m["metadata"]["name"].startswith("coordinator-config")]
            self.assertEqual(len(settings), 1, folder)
            self.assertLessEqual(set(settings[0]["data"]), flags_of("warpsmith-coordinator")[1], folder)
            self.assertIn("dbname=", settings[0]["data"]["WARPSMITH_DATABASE"])

    def test_secrets_go_where_they_are_needed(self):
        wanted = {"coordinator": {"coordinator", "database"}, "gateway": {"gateway", "model-keys"}, "worker": {"worker"},
                  "postgres": {"database"}, "front": set()}
        for folder, manifests in self.whole.items():
            for name, _, spec in manifests.pods():
                mounted = {v["secret"]["secretName"] for v in spec["volumes"] if "secret" in v}
                self.assertEqual(mounted, wanted[name], f"{folder}: {name}")
                for container in spec["containers"]:
                    for variable in container.get("env", []):
                        self.assertNotIn("secretKeyRef", variable.get("valueFrom", {}), f"{folder}: {name}")

    def test_secrets_are_made_as_they_are_mounted(self):
        folder = tempfile.mkdtemp(prefix="ws-secrets-")
        self.addCleanup(shutil.rmtree, folder)
        subprocess.run([DEPLOY + "/secrets.sh", folder], check=True, capture_output=True, timeout=60)
        os.mkdir(folder + "/keys")
        with open(folder + "/keys/anthropic", "w") as out:
            out.write("not a key")
        done = subprocess.run([FOLDER + "/secrets.sh", folder, "--keys", folder + "/keys", "--print"], check=True,
                              capture_output=True, text=True, timeout=120)
        made = {m["metadata"]["name"]: set(m["data"]) for m in yaml.safe_load_all(done.stdout) if m}
        self.assertEqual(set(made), {"coordinator", "gateway", "worker", "database", "database-reader", "model-keys"})
        for manifests in self.whole.values():
            for name, _, spec in manifests.pods():
                folders = {v["name"]: v["secret"] for v in spec["volumes"] if "secret" in v}
                for container in spec["containers"]:
                    files = [a.partition("=")[2] for a in container.get("args", [])]
                    files += [e["value"] for e in container.get("env", []) if "value" in e]
                    for mount in container["volumeMounts"]:
                        if mount["name"] in folders:
                            secret = folders[mount["name"]]["secretName"]
                            for file in files:
                                if file.startswith(mount["mountPath"] + "/"):
                                    self.assertIn(os.path.basename(file), made[secret], f"{name}: {file}")
            for authentication in manifests.of("TriggerAuthentication"):
                for reference in authentication["spec"]["secretTargetRef"]:
                    self.assertIn(reference["key"], made[reference["name"]])

    def test_the_network_is_closed_but_for_what_is_needed(self):
        for folder, manifests in self.whole.items():
            policies = {p["metadata"]["name"]: p["spec"] for p in manifests.of("NetworkPolicy")}
            self.assertEqual(policies["default-deny"], {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]})
            for name, _, _ in manifests.pods():
                self.assertIn(name, policies, folder)
            worker, = policies["worker"]["egress"]
            self.assertEqual(worker["ports"], [{"protocol": "TCP", "port": 7700}], folder)
            gateway, = policies["gateway"]["ingress"]
            self.assertEqual(gateway["from"], [{"podSelector": {"matchLabels": {"app": "coordinator"}}}], folder)

    def test_images_have_a_version(self):
        for folder, manifests in self.whole.items():
            for name, _, spec in manifests.pods():
                for container in spec["containers"]:
                    tag = container["image"].rpartition("/")[2].partition(":")[2]
                    self.assertTrue(tag and tag != "latest", f"{folder}: {container['image']}")

    def test_workers_have_a_gpu_each(self):
        for folder, gpus in (("overlays/lab", "1"), ("overlays/single-node", "1"), ("overlays/emulated", None)):
            worker = self.whole[folder].of("StatefulSet", "worker")[0]["spec"]["template"]["spec"]["containers"][0]
            self.assertEqual(worker["resources"]["limits"].get("nvidia.com/gpu"), gpus, folder)
            self.assertEqual("--gpus=none" in worker["args"], gpus is None, folder)


if __name__ == "__main__":
    unittest.main(verbosity=2)
