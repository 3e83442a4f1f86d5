#!/usr/bin/env python3
"""The published figures: the best recipes of the well-known problems, each confirmed against eager PyTorch in one run. Then,
problem by problem as far as the time goes, every baseline: torch.compile takes a minute to try what it can.

    run.py [--best FILE] [--only PROBLEM...] [--seconds 240] [--record FILE]

--best names the candidates (best.json beside this script: problem, idea, setting of the catalog). Prints a line a candidate;
--record keeps the rows, of which table.py makes the table in docs/results.md. WARPSMITH_GPU is the number of the GPU.
"""

import argparse
import datetime
import hashlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))
sys.path.insert(0, str(HERE.parent / "catalog"))

import batch  # noqa: E402
import progress  # noqa: E402
import run as catalog  # noqa: E402


def machine(device):
    """Card, driver and PyTorch of this run."""
    asked = subprocess.run(["nvidia-smi", "-i", str(device), "--query-gpu=name,driver_version,power.limit",
                            "--format=csv,noheader"], capture_output=True, text=True, timeout=30, check=True).stdout
    name, driver, power = [part.strip() for part in asked.strip().splitlines()[0].split(",")]
    torch = subprocess.run([sys.executable, "-c", "import torch; print(torch.__version__)"], capture_output=True, text=True,
                           timeout=120, check=True).stdout.strip()
    return {"card": name, "driver": driver, "power": power, "pytorch": torch,
            "date": datetime.datetime.now(datetime.timezone.utc).date().isoformat()}


def evaluate(entry, what, device, limit):
    """The program's answer, or a text that says why there is none."""
    command = [batch.program(), "evaluate", entry["problem"], entry["file"], what, "--json",
               "--accept", ",".join(entry["accepted"]), "--device", str(device)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit)
        return json.loads(done.stdout)
    except subprocess.TimeoutExpired:
        return f"did not end in {limit:.0f} s"
    except ValueError:
        return f"status {done.returncode}: {' '.join((done.stdout + done.stderr).split())[-400:]}"


def baselines(entry, device, limit):
    answer = evaluate(entry, "--baselines", device, limit)
    if isinstance(answer, str):
        print(f"note: {entry['name']}: baselines: {answer}", flush=True)
        return []
    return [{"name": one["name"], "ms": float(one.get("median_ms", 0)), "class": batch.short(one.get("precision_class", ""))}
            for one in answer["problem"].get("baselines", []) if float(one.get("median_ms", 0)) > 0]


def confirmed(entry, device, limit):
    """A row, or a text that says why there is none."""
    answer = evaluate(entry, "--confirm", device, limit)
    if isinstance(answer, str):
        return answer
    evaluation = answer["evaluation"]
    confirmation = evaluation.get("confirmation") or {}
    if batch.short(evaluation.get("outcome", "")) != "ok" or not confirmation.get("candidate_ms"):
        return f"{batch.outcome(answer)}: {evaluation.get('message', '')[:400]}"
    return {
        "class": batch.short(evaluation["reached"]), "ms": float(confirmation["candidate_ms"]),
        "eager_ms": float(confirmation["reference_ms"]), "ratio": float(confirmation["ratio_to_reference"]),
        "low": float(confirmation["reference_low"]), "high": float(confirmation["reference_high"]),
        "rounds": int(confirmation["rounds"]), "samples": int(confirmation["samples"]),
        "roofline": {key: evaluation.get("roofline", {}).get(key) for key in ("share", "bound")},
        "flags": evaluation.get("flags", []), "baselines": [],
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--best", default=str(HERE / "best.json"))
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--seconds", type=float, default=240)
    parser.add_argument("--record", metavar="FILE")
    options = parser.parse_args()
    device, start, failures, rows = os.environ.get("WARPSMITH_GPU", "0"), time.monotonic(), 0, []
    best = [one for one in json.loads(pathlib.Path(options.best).read_text(encoding="utf-8"))
            if not options.only or one["problem"] in options.only]
    where, by_problem = machine(device), {}
    record = progress.Record(options.record, {"rows": rows})
    with tempfile.TemporaryDirectory(prefix="warpsmith-results-") as folder:
        entries = catalog.candidates(catalog.problem_files(True), device, folder)
        for wanted in best:
            found = [entry for entry in entries if entry["name"] == wanted["problem"] and
                     f"{entry['recipe']}/{entry['idea']}" == wanted["idea"] and entry["setting"] == wanted["setting"]]
            left = options.seconds - (time.monotonic() - start)
            title = f"{wanted['problem']}: {wanted['idea']} ({wanted['setting']})"
            row = ("the catalog has no such candidate" if not found else "no time was left" if left < 10 else
                   confirmed(found[0], device, left))
            if isinstance(row, str):
                failures += 1
                print(f"FAILED {title}: {row}", flush=True)
                continue
            rows.append({**wanted, **where, **row,
                         "sha256": hashlib.sha256(pathlib.Path(found[0]["file"]).read_bytes()).hexdigest()})
            by_problem.setdefault(wanted["problem"], found[0])
            record.content = {"rows": rows}
            record.save()
            print(f"ok     {title}: {row['class']} {row['ms']:.4f} ms, eager {row['eager_ms']:.4f} ms, {row['ratio']:.3f} x "
                  f"({row['low']:.3f} to {row['high']:.3f}), {row['rounds']} rounds", flush=True)
        for name, entry in by_problem.items():
            left = options.seconds - (time.monotonic() - start)
            if left < 20:
                print(f"note: {name}: no time was left for the baselines", flush=True)
                continue
            measured = baselines(entry, device, left)
            for row in rows:
                if row["problem"] == name:
                    row["baselines"] = measured
            record.save()
            print(f"  {name}: " + ", ".join(f"{one['name']} {one['ms']:.4f} ms" for one in measured), flush=True)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
