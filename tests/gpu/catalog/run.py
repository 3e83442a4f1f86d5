#!/usr/bin/env python3
"""Judges the catalog's recipes on a GPU: every idea with every setting that fits, for the well-known problems first,
then for the families of KernelBench's first level.

    run.py [--seconds 85] [--only TEXT...] [--record FILE] [--headline | --shapes] [--device N]

Prints a line a candidate ("ok" or "FAILED", with class, time and ratio to eager PyTorch) and then a table: problem,
best idea and setting, ms, eager ms, ratio, class. --record keeps what was done, candidate by candidate; a later run
with the same file leaves out what it has as right, unless its source has changed, and counts it in the table. --only:
candidates whose file names hold one of these texts. --headline: the well-known problems alone. --shapes: small and odd
shapes (tests/problems/shapes and catalog), and of them only what needs a GPU. The exit status is 0 where every
candidate that was judged is right. Compiling runs beside the device; what cannot be judged within --seconds is left for
the next run.
"""

import argparse
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "benchmarks"))

import batch  # noqa: E402
import progress  # noqa: E402

PROBLEMS = ROOT / "tests" / "problems"
HEADLINE = ["matmul_4096", "layer_norm_16_64_256_256", "layer_norm_mean1000", "softmax_4096_65536", "conv2d_11x11",
            "conv2d_relu_max_pool", "matmul_fp16_4096", "attention_fp16"]
# Loosest class that the problem's own eager baseline stands for; a recipe that changes precision counts only there.
ACCEPTED = {"conv2d_11x11": ["fp32", "tf32"], "conv2d_relu_max_pool": ["fp32", "tf32"],
            "matmul_fp16_4096": ["fp32", "tf32"], "attention_fp16": ["fp32", "tf32"]}


def expander():
    """The program that writes the candidates, beside the test programs of the build or bundle at hand."""
    places = []
    if os.environ.get("WARPSMITH_BIN_DIR"):
        places.append(pathlib.Path(os.environ["WARPSMITH_BIN_DIR"]).parent / "gpu_tests" / "catalog_expand")
    places.append(ROOT / "build" / "dev" / "gpu_tests" / "catalog_expand")
    for place in places:
        if place.exists():
            return str(place)
    sys.exit("there is no catalog_expand; build it (the target gpu_tests) or carry it (./dev bundle --gpu-tests)")


def capability(device):
    text = subprocess.run(["nvidia-smi", "-i", str(device), "--query-gpu=compute_cap", "--format=csv,noheader"],
                          capture_output=True, text=True, timeout=30, check=True).stdout
    return text.strip().splitlines()[0].replace(".", "")


def shape_files():
    return sorted((PROBLEMS / "shapes").glob("*.py")) + sorted((PROBLEMS / "catalog").glob("*.py"))


def problem_files(headline_only):
    files = [PROBLEMS / "headline" / (name + ".py") for name in HEADLINE]
    if not headline_only:
        files += sorted((PROBLEMS / "level1").glob("*.py"))
    return files


def candidates(files, device, folder):
    """All that fit, those that need a GPU first, so that what is new is seen even where time runs out."""
    described = subprocess.run([sys.executable, str(pathlib.Path(__file__).with_name("describe.py")), *map(str, files)],
                               capture_output=True, text=True, timeout=300, check=False)
    if described.returncode != 0:
        sys.exit("describe.py: " + described.stderr[-2000:])
    if described.stderr.strip():
        print("note: " + described.stderr.strip()[-2000:], flush=True)
    problems = pathlib.Path(folder) / "problems.json"
    problems.write_text(described.stdout, encoding="utf-8")
    out = pathlib.Path(folder) / "candidates"
    recipes = os.environ.get("WARPSMITH_RECIPES", str(ROOT / "llm_gateway" / "catalog" / "recipes"))
    subprocess.run([expander(), recipes, str(problems), capability(device), str(out)], check=True, timeout=300)
    entries = json.loads((out / "candidates.json").read_text(encoding="utf-8"))
    order = {str(file): place for place, file in enumerate(files)}
    headline = {str(PROBLEMS / "headline" / (name + ".py")) for name in HEADLINE}
    entries.sort(key=lambda entry: (entry["problem"] not in headline, not entry["needs_gpu"],
                                    order[entry["problem"]]))
    for entry in entries:
        entry["sha256"] = hashlib.sha256(pathlib.Path(entry["file"]).read_bytes()).hexdigest()
        entry["accepted"] = ACCEPTED.get(entry["name"], ["fp32"])
        if entry["changes_precision"] and "tf32" not in entry["accepted"]:
            entry["accepted"] = ["fp32", "tf32"]
    return entries


def judged(entry, answer):
    """A row of the record."""
    evaluation = answer.get("evaluation") or {}
    timing = evaluation.get("timing") or {}
    ms, ratio = float(timing.get("median_ms", 0)), float(evaluation.get("ratio_to_eager", 0))
    return {"key": pathlib.Path(entry["file"]).name, "sha256": entry["sha256"], "name": entry["name"],
            "idea": f"{entry['recipe']}/{entry['idea']}", "setting": entry["setting"],
            "outcome": batch.outcome(answer), "class": batch.short(evaluation.get("reached", "")), "ms": ms,
            "ratio": ratio, "seconds": float(evaluation.get("evaluate_seconds", 0)),
            "error": rms(evaluation),
            "message": (evaluation.get("message") or answer.get("error") or "")[:400],
            "log": (evaluation.get("compile") or {}).get("log", "")[:600]}


def rms(evaluation):
    """The largest relative error of any trial, for whoever wonders how near the limit a split product is."""
    return max((float(trial.get("relative_rms_error", 0)) for trial in evaluation.get("trials", [])), default=0.0)


def line(row):
    good = row["outcome"] == "ok"
    text = f"{'ok    ' if good else 'FAILED'} {row['name']}: {row['idea']} ({row['setting']}) {row['outcome']}"
    if good:
        return text + f" {row['class']} {row['ms']:.4f} ms, {row['ratio']:.2f} x eager, error {row['error']:.1e}, {row['seconds']:.1f} s"
    return text + f" [{' '.join((row['message'] + ' ' + row['log']).split())[:700]}]"


def table(rows):
    print(f"\n  {'problem':26} {'best idea':34} {'setting':44} {'ms':>9} {'eager ms':>9} {'ratio':>7}  class")
    names = list(dict.fromkeys(row["name"] for row in rows))
    for name in names:
        for precision in ("fp32", "tf32", "bf16"):
            good = [row for row in rows if row["name"] == name and row["outcome"] == "ok" and row["ms"] > 0 and
                    row["class"] == precision]
            if not good:
                continue
            best = min(good, key=lambda row: row["ms"])
            eager = best["ms"] * best["ratio"]
            print(f"  {name:26} {best['idea']:34} {best['setting']:44} {best['ms']:9.4f} {eager:9.4f} "
                  f"{best['ratio']:7.2f}  {precision}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=85)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--record", metavar="FILE")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--headline", action="store_true")
    which.add_argument("--shapes", action="store_true")
    parser.add_argument("--device", type=int, default=int(os.environ.get("WARPSMITH_GPU", "0")))
    options = parser.parse_args()
    earlier = progress.load(options.record) if options.record else None
    done = {row["key"]: row for row in (earlier or {}).get("candidates", []) if row["outcome"] == "ok"}
    record = progress.Record(options.record, {"candidates": list(done.values())})
    if not shutil.which(batch.program()):
        sys.exit("warpsmith is not on the PATH; name its folder with WARPSMITH_BIN_DIR")
    failures, right = 0, 0
    with tempfile.TemporaryDirectory(prefix="warpsmith-catalog-") as folder:
        files = shape_files() if options.shapes else problem_files(options.headline)
        entries = candidates(files, options.device, folder)
        entries = [entry for entry in entries
                   if (entry["needs_gpu"] or not options.shapes) and
                   (not options.only or any(text in pathlib.Path(entry["file"]).name for text in options.only))]
        # What has changed since is judged again.
        due = [entry for entry in entries
               if done.get(pathlib.Path(entry["file"]).name, {}).get("sha256") != entry["sha256"]]
        print(f"{len(entries)} candidates, {len(entries) - len(due)} of them right in an earlier run", flush=True)
        by_file = {entry["file"]: entry for entry in due}
        wanted = [{key: entry[key] for key in ("file", "problem", "accepted")} for entry in due]
        running = batch.Batch(wanted, arguments=["--run-limit", "5"], device=options.device, deadline=options.seconds)
        for _, answer in running:
            entry = by_file.pop(str(answer["file"]), None)
            if entry is None:
                continue
            row = judged(entry, answer)
            done[row["key"]] = row
            failures += row["outcome"] != "ok"
            right += row["outcome"] == "ok"
            print(line(row), flush=True)
            record.content = {"candidates": list(done.values())}
            record.save()
        if due and failures + right == 0:
            print(f"FAILED no verdict at all: {running.said[-600:]}", flush=True)
            failures += 1
        if by_file:
            print(f"note: no time for {len(by_file)} of them in {options.seconds:.0f} s", flush=True)
    table(list(done.values()))
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
