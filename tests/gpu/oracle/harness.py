"""What the oracle's GPU tests share: one line a check, the oracle as a process, and a stand-in for a candidate."""

import json
import os
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
PACKAGE = os.path.join(SOURCE, "gpu_worker", "reference", "python")
sys.path.insert(0, PACKAGE)

FAILED = []
TABLE = []
STARTED = time.perf_counter()


def check(name, passed, figures=""):
    print(f"{'ok    ' if passed else 'FAILED'} {name}{': ' + str(figures) if figures != '' else ''}", flush=True)
    if not passed:
        FAILED.append(name)
    return passed


def row(name, value, unit, note=""):
    TABLE.append((name, value, unit, note))


def print_table():
    print()
    for name, value, unit, note in TABLE:
        print(f"{name:<58} {value:>10.3f} {unit:<4} {note}")
    print(f"{len(FAILED)} failed, {time.perf_counter() - STARTED:.1f} s")


def problem_source(*path):
    with open(os.path.join(SOURCE, "tests", *path), encoding="utf-8") as file:
        return file.read()


def environment():
    kept = {key: value for key, value in os.environ.items() if key in ("PATH", "LD_LIBRARY_PATH", "HOME",
                                                                       "CUDA_VISIBLE_DEVICES", "TMPDIR")}
    return {**kept, "PYTHONPATH": PACKAGE, "PYTHONDONTWRITEBYTECODE": "1", "CUDA_MODULE_LOADING": "LAZY", "USER": "w"}


class Lines:
    """A child that answers a line of JSON with one."""

    def __init__(self, *arguments):
        self.process = subprocess.Popen([sys.executable, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True, env=environment())

    def call(self, request):
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        while True:
            line = self.process.stdout.readline()
            if not line:
                raise RuntimeError(f"the process ended during {str(request)[:80]}")
            reply = json.loads(line)
            if "progress" not in reply:
                return reply

    def close(self):
        self.process.stdin.close()
        try:
            self.process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()


class Oracle(Lines):
    def __init__(self, *arguments):
        super().__init__("-m", "warpsmith_oracle", "--device", "cuda:0", *arguments)

    def ask(self, command, **arguments):
        """(reply, milliseconds); an error of the oracle's is raised."""
        start = time.perf_counter()
        reply = self.call({"command": command, **arguments})
        taken = (time.perf_counter() - start) * 1e3
        if "error" in reply:
            raise RuntimeError(f"{command}: {reply['kind']}: {reply['message']}")
        return reply, taken


def descriptions(signature, scratch_bytes=0):
    """A plan's buffers, and the shapes that the stand-in gives them."""
    found = [entry for entry in signature["tensors"] if "alias_of" not in entry]
    result = [{"name": entry["name"], "dtype": entry["dtype"], "bytes": entry["storage_bytes"],
               "kind": "BUFFER_KIND_OUTPUT" if entry["role"] == "TENSOR_ROLE_OUTPUT" else "BUFFER_KIND_READ_ONLY"}
              for entry in found]
    shapes = [entry["shape"] for entry in found]
    if scratch_bytes:
        result.append({"name": "partial", "dtype": "float32", "bytes": scratch_bytes, "kind": "BUFFER_KIND_SCRATCH"})
    return result, shapes
