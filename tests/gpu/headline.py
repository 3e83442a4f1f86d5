#!/usr/bin/env python3
"""The well-known problems of tests/problems/headline on a GPU: each taken in, all its baselines timed, one candidate
judged. On an H200 eager PyTorch's and torch.compile's times must lie within 15 % of the known figures.

    headline.py [--all] [--only NAME...] [--seconds 320]        --all: the problems in half precision too
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))

import batch  # noqa: E402
import candidates  # noqa: E402

# Problem, candidate (a workload of benchmarks/candidates.py or a file of headline/), classes to accept, and what one
# H200 with PyTorch 2.11 took, in ms: eager, torch.compile. Gradients are off, as in our baselines: with them the
# compiler leaves layouts alone, and takes 0.740 and 0.760 ms for the two convolutions.
FP32 = [
    ("softmax_4096_65536", "softmax", "fp32", 1.05, 0.83),
    ("layer_norm_16_64_256_256", "layer_norm", "fp32", 8.10, 0.333),
    ("layer_norm_mean1000", "layer_norm", "fp32", 8.17, 0.375),
    ("matmul_4096", "matmul_4096.cu", "fp32", 2.79, 2.90),
    ("conv2d_11x11", "conv2d_11x11.cu", "fp32,tf32", 0.897, 0.655),
    ("conv2d_relu_max_pool", "conv2d_relu_max_pool.cu", "fp32,tf32", 0.999, 0.716),
]
HALF = [
    ("matmul_fp16_4096", "matmul_fp16_4096.cu", "fp32,tf32,bf16", 0.185, 0),
    ("attention_fp16", "attention_fp16.cu", "fp32,tf32,bf16", 1.88, 0),
]
ALLOWED = 0.15


def is_h200():
    listed = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, timeout=60, check=False)
    return "H200" in listed.stdout


def say(good, text):
    print(f"{'ok    ' if good else 'FAILED'} {text}", flush=True)
    return good


def evaluate(name, candidate, accepted, folder, limit):
    if candidate.endswith(".cu"):
        file = str(ROOT / "tests" / "gpu" / "headline" / candidate)
    else:
        file = candidates.write(candidate, 1, folder)[0]
    problem = str(ROOT / "tests" / "problems" / "headline" / (name + ".py"))
    command = [batch.program(), "evaluate", problem, file, "--json", "--accept", accepted, "--baselines", "--device",
               os.environ.get("WARPSMITH_GPU", "0")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=limit)
    try:
        return json.loads(done.stdout), ""
    except ValueError:
        return None, f"status {done.returncode}: {' '.join((done.stdout + done.stderr).split())[-400:]}"


def check_baselines(name, baselines, known):
    """A line each; against what is known where the machine is the same."""
    good = True
    times = {baseline["name"]: float(baseline["median_ms"]) for baseline in baselines}
    for baseline in baselines:
        if baseline.get("skipped_reason"):
            print(f"  {name:26} {baseline['name']:24} skipped: {baseline['skipped_reason'][:100]}")
        else:
            print(f"  {name:26} {baseline['name']:24}{float(baseline['median_ms']):9.4f} ms  spread "
                  f"{100 * float(baseline['spread']):5.2f} %  {batch.short(baseline['precision_class'])}")
    for method, expected in known.items():
        if expected <= 0:
            continue
        if times.get(method, 0) <= 0:
            good = say(False, f"{name}: {method} was not timed") and good
            continue
        apart = times[method] / expected - 1
        good = say(abs(apart) <= ALLOWED, f"{name}: {method} {times[method]:.4f} ms, {expected} ms known "
                   f"({100 * apart:+.1f} %, {100 * ALLOWED:.0f} % allowed)") and good
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--all", action="store_true", help="the problems in half precision too")
    parser.add_argument("--seconds", type=float, default=320, help="for all of it")
    parser.add_argument("--only", nargs="+", default=[], help="of these problems")
    options = parser.parse_args()
    start, failures, h200 = time.monotonic(), 0, is_h200()
    with tempfile.TemporaryDirectory(prefix="warpsmith-headline-") as folder:
        for name, candidate, accepted, eager, compiled in FP32 + (HALF if options.all else []):
            if options.only and name not in options.only:
                continue
            left = options.seconds - (time.monotonic() - start)
            if left < 5:
                failures += not say(False, f"{name}: no time was left")
                continue
            began = time.monotonic()
            try:
                answer, error = evaluate(name, candidate, accepted, folder, left)
            except subprocess.TimeoutExpired:
                answer, error = None, f"no verdict in {left:.0f} s"
            if answer is None:
                failures += not say(False, f"{name}: {error}")
                continue
            evaluation = answer["evaluation"]
            outcome = batch.short(evaluation["outcome"])
            timing = evaluation.get("timing") or {}
            failures += not say(outcome == "ok", f"{name}: {candidate} {outcome} {batch.short(evaluation['reached'])} "
                                f"{float(timing.get('median_ms', 0)):.4f} ms, "
                                f"{evaluation['ratio_to_eager']:.2f} x eager, flags {evaluation.get('flags', [])}, "
                                f"{time.monotonic() - began:.1f} s with intake and baselines "
                                f"{evaluation.get('message', '')[:300]}")
            known = {"eager": eager, "compile_default": compiled} if h200 else {}
            failures += not check_baselines(name, answer["problem"].get("baselines", []), known)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
