"""Runs many candidates through one `warpsmith evaluate --batch` and hands on each verdict as it comes."""

import json
import os
import queue
import subprocess
import tempfile
import threading
import time


def program():
    folder = os.environ.get("WARPSMITH_BIN_DIR")
    return os.path.join(folder, "warpsmith") if folder else "warpsmith"


def short(name):
    """ok for OUTCOME_OK."""
    for prefix in ("OUTCOME_", "PRECISION_CLASS_"):
        name = name.removeprefix(prefix)
    return name.lower()


def outcome(answer):
    evaluation = answer.get("evaluation") or {}
    return short(evaluation.get("outcome", "")) or "no verdict"


class Batch:
    """`entries`: dicts with "file" and "problem", whole paths. Iterating gives (seconds since the start, answer), where
    an answer has "file" and "evaluation" or "error". Ends at the deadline whatever the program does."""

    def __init__(self, entries, arguments=(), device=None, deadline=600.0, environment=None):
        self.entries = entries
        self.arguments = list(arguments) + (["--device", str(device)] if device is not None else [])
        self.deadline = deadline
        self.environment = dict(os.environ, **(environment or {}))
        self.pid = 0
        self.seconds = 0.0
        self.status = None
        self.said = ""

    def __iter__(self):
        help_text = subprocess.run([program(), "evaluate", "--help"], capture_output=True, text=True, timeout=60).stdout
        start = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="warpsmith-batch-") as folder:
            if "--batch" in help_text:
                manifest = os.path.join(folder, "manifest.json")
                with open(manifest, "w", encoding="utf-8") as file:
                    json.dump(self.entries, file)
                yield from self._run(["--batch", manifest, "--json"] + self.arguments, folder, start, True)
            else:
                for entry in self.entries:
                    command = [entry["problem"], entry["file"], "--json"] + self.arguments
                    for seconds, answer in self._run(command, folder, start, False):
                        yield seconds, dict(answer, file=entry["file"])
                    if time.monotonic() - start >= self.deadline:
                        break
        self.seconds = time.monotonic() - start

    def _run(self, arguments, folder, start, lines):
        with open(os.path.join(folder, "errors"), "w+", encoding="utf-8") as errors:
            process = subprocess.Popen([program(), "evaluate"] + arguments, stdout=subprocess.PIPE, stderr=errors,
                                       text=True, env=self.environment)
            self.pid = process.pid
            said = queue.Queue()

            def read():
                for line in process.stdout:
                    said.put((time.monotonic() - start, line))
                said.put(None)

            threading.Thread(target=read, daemon=True).start()
            whole = []
            try:
                while True:
                    item = said.get(timeout=max(0.01, start + self.deadline - time.monotonic()))
                    if item is None:
                        break
                    whole.append(item)
                    if lines and item[1].strip():
                        yield item[0], json.loads(item[1])
                if whole and not lines:
                    yield whole[-1][0], json.loads("".join(line for _, line in whole))
                process.wait(timeout=30)
            except (queue.Empty, subprocess.TimeoutExpired):
                pass
            finally:
                if process.poll() is None:
                    process.kill()
                self.status = process.wait()
                errors.seek(0)
                self.said = " ".join(errors.read()[-2000:].split())


def gpu_present():
    try:
        listed = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, timeout=60)
        return listed.returncode == 0 and "GPU 0" in listed.stdout
    except (OSError, subprocess.SubprocessError):
        return False
