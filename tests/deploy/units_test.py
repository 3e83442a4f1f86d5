"""deploy/systemd and deploy/slurm, and all scripts of deploy/: systemd-analyze, shellcheck, and the programs' flags."""
import glob
import os
import re
import shlex
import shutil
import subprocess
import tempfile
import unittest

from programs import BIN, DEPLOY, check_arguments, check_server, flags_of, longest_stop, read

UNITS = {"warpsmith-coordinator.service": "warpsmith-coordinator", "warpsmith-gateway.service": "warpsmith-gateway",
         "warpsmith-worker@.service": "warpsmith-worker"}


def settings(text):
    """{key: [values]} of a unit or an environment file, with continued lines joined."""
    found = {}
    for line in re.sub(r"\\\n\s*", " ", text).splitlines():
        match = re.fullmatch(r"([A-Za-z_]+)=(.*)", line)
        if match:
            found.setdefault(match[1], []).append(match[2])
    return found


class UnitsTest(unittest.TestCase):
    def test_systemd_finds_nothing_wrong(self):
        folder = tempfile.mkdtemp(prefix="ws-units-")
        self.addCleanup(shutil.rmtree, folder)
        for name in UNITS:
            # The same unit with the programs of this build, since systemd-analyze looks whether they are there.
            text = read("systemd", name).replace("/opt/warpsmith/bin", BIN)
            target = name.replace("@.", "@0.")
            with open(f"{folder}/{target}", "w") as out:
                out.write(text)
            done = subprocess.run(["systemd-analyze", "verify", "--man=no", "--recursive-errors=no", f"{folder}/{target}"],
                                  capture_output=True, text=True, timeout=60)
            said = [line for line in (done.stderr + done.stdout).splitlines() if folder in line or name in line
                    or target in line]
            self.assertEqual((done.returncode, said), (0, []), name)

    def test_systemd_would_find_what_is_wrong(self):
        folder = tempfile.mkdtemp(prefix="ws-units-")
        self.addCleanup(shutil.rmtree, folder)
        text = read("systemd", "warpsmith-gateway.service").replace("/opt/warpsmith/bin", BIN)
        for wrong, why in ((text.replace("KillMode=mixed", "KillMode=some"), "kill mode"),
                           (text.replace("PrivateTmp=", "PrivateTemp="), "PrivateTemp"),
                           (text.replace("@system-service", "@no-such-set"), "no-such-set")):
            path = f"{folder}/wrong.service"
            with open(path, "w") as out:
                out.write(wrong)
            done = subprocess.run(["systemd-analyze", "verify", "--man=no", "--recursive-errors=no", path],
                                  capture_output=True, text=True, timeout=60)
            self.assertIn(why, done.stderr + done.stdout)

    def test_hardening(self):
        """systemd's own measure of what a unit leaves open, 0 to 10."""
        folder = tempfile.mkdtemp(prefix="ws-units-")
        self.addCleanup(shutil.rmtree, folder)
        for name, most in (("warpsmith-coordinator.service", 2.0), ("warpsmith-gateway.service", 2.0),
                           ("warpsmith-worker@.service", 3.5)):
            target = f"{folder}/{name.replace('@.', '@0.')}"
            shutil.copy(f"{DEPLOY}/systemd/{name}", target)
            done = subprocess.run(["systemd-analyze", "security", "--offline=yes", "--no-pager", target],
                                  capture_output=True, text=True, timeout=60)
            level = re.search(r"Overall exposure level for \S+: ([\d.]+)", done.stdout)
            self.assertTrue(level, done.stdout + done.stderr)
            self.assertLessEqual(float(level[1]), most, name)

    def test_the_workers_sandbox_is_allowed(self):
        unit = settings(read("systemd", "warpsmith-worker@.service"))
        allowed = unit["SystemCallFilter"][0].split()
        for call in ("landlock_create_ruleset", "landlock_add_rule", "landlock_restrict_self", "seccomp"):
            self.assertIn(call, allowed)
        for key, value in (("MemoryDenyWriteExecute", "no"), ("NoNewPrivileges", "yes"), ("KillMode", "mixed")):
            self.assertEqual(unit[key], [value])
        self.assertNotIn("PrivateDevices", unit)  # it would hide the GPU

    def test_programs_know_their_flags(self):
        for name, program in UNITS.items():
            unit = settings(read("systemd", name))
            words = shlex.split(unit["ExecStart"][0])
            self.assertEqual(words[0], "/opt/warpsmith/bin/" + program)
            given = check_arguments(self, program, words[1:], name)
            if program != "warpsmith-worker":
                check_server(self, given, name)
            self.assertGreater(float(unit["TimeoutStopSec"][0]), longest_stop(program, given), name)
            credentials = {value.split(":")[0] for value in unit["LoadCredential"]}
            example = settings(read("systemd", program[len("warpsmith-"):] + ".env.example"))
            for value in given.values():
                for variable in re.findall(r"\$\{(\w+)\}", value):
                    self.assertIn(variable, set(example) | {"CREDENTIALS_DIRECTORY", "STATE_DIRECTORY"}, name)
                credential = re.fullmatch(r"\$\{CREDENTIALS_DIRECTORY\}/(.*)", value)
                if credential:
                    self.assertIn(credential[1], credentials, name)
            used = {v for value in given.values() for v in re.findall(r"\$\{(\w+)\}", value)}
            for variable in example:
                self.assertTrue(variable in used or variable in flags_of(program)[1], f"{name}: {variable} is for nobody")
            # Keys of models are the gateway's alone.
            self.assertEqual("keys" in credentials, program == "warpsmith-gateway", name)
            self.assertEqual(unit["User"], [program])
            # It says itself when it is ready, and may wait for another process until then.
            self.assertEqual((unit["Type"], unit["TimeoutStartSec"]), (["notify"], ["infinity"]), name)
            self.assertIn(f"u {program} ", read("systemd", "warpsmith.sysusers"))

    def test_users_can_be_made(self):
        root = tempfile.mkdtemp(prefix="ws-root-")
        self.addCleanup(shutil.rmtree, root)
        os.makedirs(root + "/etc")
        done = subprocess.run(["systemd-sysusers", "--root=" + root, DEPLOY + "/systemd/warpsmith.sysusers"],
                              capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(root + "/etc/passwd") as text:
            self.assertEqual(len(re.findall(r"^warpsmith-", text.read(), re.MULTILINE)), 3)

    def test_slurm_script(self):
        text = read("slurm", "workers.sbatch")
        options = re.findall(r"^#SBATCH (--\S+)", text, re.MULTILINE)
        for option in ("--gres=gpu:1", "--signal=TERM@120", "--requeue", "--ntasks=1", "--export=NIL"):
            self.assertIn(option, options)
        # The last #SBATCH line stands before the first command, or Slurm would not read it.
        body = [line for line in text.splitlines() if line and not line.startswith("#")]
        self.assertLess(text.rindex("#SBATCH"), text.index("\n" + body[0]))
        command = re.search(r"srun (.*?)&\n", text, re.DOTALL)[1]
        flags = re.findall(r"(--[a-z-]+) \"", command) + re.findall(r"(--drain-seconds) (\d+)", command)[:0]
        self.assertEqual(set(flags), {"--coordinator", "--worker-id", "--data-dir", "--gpus"})
        known, variables = flags_of("warpsmith-worker")
        self.assertLessEqual(set(flags) | {"--drain-seconds"}, known)
        # It must be through before Slurm kills it.
        drain = int(re.search(r"--drain-seconds (\d+)", command)[1])
        self.assertLess(longest_stop("warpsmith-worker", {"--drain-seconds": drain}), 120)
        example = settings(read("slurm", "slurm.env.example").replace("\n#WARPSMITH", "\nWARPSMITH"))
        for variable in example:
            self.assertTrue(variable in variables or variable in text or
                            variable in ("WARPSMITH_PYTHON", "WARPSMITH_CUDA_PATH"), variable)

    def test_shellcheck(self):
        scripts = glob.glob(DEPLOY + "/**/*.sh", recursive=True) + glob.glob(DEPLOY + "/**/*.sbatch", recursive=True)
        self.assertGreaterEqual(len(scripts), 6)
        done = subprocess.run(["shellcheck", "-x", "-P", os.path.dirname(DEPLOY), *scripts], capture_output=True,
                              text=True, timeout=120)
        self.assertEqual(done.stdout, "")
        for script in scripts:
            if script.endswith(".sh"):
                self.assertTrue(os.access(script, os.X_OK) or "/compose/" in script, f"{script} cannot be run")


if __name__ == "__main__":
    unittest.main(verbosity=2)
