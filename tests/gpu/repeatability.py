#!/usr/bin/env python3
"""The same kernel measured many times, each in an evaluation of its own, and a kernel confirmed against itself.

    repeatability.py [--times 20] [--workload NAME]...

The spread of the times (interquartile range over median) must be at most 0.5 %, the confirmation's ratio
1.000 ± 0.003.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))

import batch  # noqa: E402
import candidates  # noqa: E402

SPREAD = 0.005
RATIO = 0.003


def say(good, text):
    print(f"{'ok    ' if good else 'FAILED'} {text}", flush=True)
    return good


def measure(workloads, times, folder, device):
    """Milliseconds by workload. Files differ by name only, so that each is an evaluation of its own."""
    entries = []
    for name in workloads:
        text = candidates.sources(name, 1)[0]
        for i in range(times):
            path = os.path.join(folder, f"{name}_{i}.cu")
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            entries.append({"file": path, "problem": candidates.problem_file(name), "accepted": ["fp32"]})
    backlog = batch.Batch(entries, device=device, deadline=140)
    found = {name: [] for name in workloads}
    for _, answer in backlog:
        name = os.path.basename(answer["file"]).rsplit("_", 1)[0]
        if batch.outcome(answer) == "ok":
            found[name].append(float(answer["evaluation"]["timing"]["median_ms"]))
        else:
            say(False, f"{name}: {batch.outcome(answer)} "
                       f"{((answer.get('evaluation') or {}).get('message') or answer.get('error', ''))[:200]}")
    return found, backlog


def confirm(name, folder, device):
    path = candidates.write(name, 1, os.path.join(folder, "confirm"))[0]
    command = [batch.program(), "evaluate", candidates.problem_file(name), path, "--confirm", "--incumbent", path,
               "--json", "--device", str(device)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        confirmation = json.loads(done.stdout)["evaluation"]["confirmation"]
    except (ValueError, KeyError, TypeError, subprocess.TimeoutExpired) as error:
        said = getattr(error, "stderr", None) or (done.stdout + done.stderr if "done" in locals() else "")
        return say(False, f"{name}: no confirmation: {error!r} {' '.join(str(said).split())[-200:]}")
    ratio = float(confirmation["ratio_to_incumbent"])
    return say(abs(ratio - 1) <= RATIO,
               f"{name}: confirmed against itself {ratio:.5f} (95 %: {float(confirmation['incumbent_low']):.5f} to "
               f"{float(confirmation['incumbent_high']):.5f}), {confirmation['rounds']} rounds, "
               f"within {RATIO} of 1 asked")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--times", type=int, default=20)
    parser.add_argument("--workload", action="append", choices=sorted(candidates.WORKLOADS))
    options = parser.parse_args()
    workloads = options.workload or ["softmax", "layer_norm", "matmul", "small_softmax"]
    device = os.environ.get("WARPSMITH_GPU", "0")
    failures = 0
    with tempfile.TemporaryDirectory(prefix="warpsmith-repeat-") as folder:
        found, backlog = measure(workloads, options.times, folder, device)
        for name, samples in found.items():
            if len(samples) < max(4, options.times - 1):
                failures += not say(False, f"{name}: {len(samples)} of {options.times} measured {backlog.said[-300:]}")
                continue
            quarter = statistics.quantiles(samples, n=4, method="inclusive")
            spread = (quarter[2] - quarter[0]) / quarter[1]
            failures += not say(spread <= SPREAD,
                                f"{name}: {len(samples)} times {quarter[1]:.4f} ms, spread {100 * spread:.3f} % "
                                f"(least {min(samples):.4f}, most {max(samples):.4f}), {100 * SPREAD:.2f} % asked")
        for name in workloads:
            failures += not confirm(name, folder, device)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
