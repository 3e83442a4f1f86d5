"""Evaluates honest candidates one by one and prints where the seconds go. Called by evaluate.sh."""
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

FILES = ["relu_plain", "relu_template", "relu_extern_c", "relu_three_dimensions", "relu_repeat_views"]


def import_seconds():
    start = time.monotonic()
    subprocess.run([sys.executable, "-c", "import torch"], check=True)
    return time.monotonic() - start


def main():
    program = os.environ["WARPSMITH_BIN_DIR"] + "/warpsmith"
    floor = statistics.median(import_seconds() for _ in range(5))
    whole, inside, compiling = [], [], []
    with tempfile.TemporaryDirectory() as cache:
        environment = dict(os.environ, XDG_CACHE_HOME=cache)
        for name in FILES:
            start = time.monotonic()
            done = subprocess.run([program, "evaluate", "tests/problems/relu.py", f"tests/corpus/honest/{name}.cu", "--json"],
                                  env=environment, capture_output=True, text=True, check=True)
            whole.append(time.monotonic() - start)
            evaluation = json.loads(done.stdout)["evaluation"]
            inside.append(evaluation["evaluate_seconds"])
            compiling.append(evaluation["compile"].get("seconds", 0))
    print(f"{'':40}{'median s':>10}{'x import':>10}")
    for label, samples in (("import torch, the floor of others", [floor]), ("warpsmith evaluate, intake included", whole),
                           ("the evaluation alone", inside), ("of it compiling", compiling)):
        middle = statistics.median(samples)
        print(f"{label:40}{middle:10.2f}{middle / floor:10.2f}")


main()
