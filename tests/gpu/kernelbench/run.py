#!/usr/bin/env python3
"""Takes in every problem file of the given folders, each in an oracle process of its own, and prints what became of it.

    python3 tests/gpu/kernelbench/run.py [--device cuda:0] FOLDER_OR_FILE...

For a KernelBench checkout of one's own: give KernelBench/level1 and so on. Where a folder has a manifest.json
(tests/problems/forms, tests/problems/headline), what intake says is also held against it.

--timings tells where each file's seconds went, and the median of each stage.

A line a file: verdict, operator family, seconds of intake (baseline apart; on a GPU of a process that is warm already, on
the CPU with its start), least and full memory in GiB, eager time in ms, and a note. The exit status is 1 where a file is
not as its manifest says, or ended its process, or nothing was found; a refused problem alone is no failure.
"""

import argparse
import collections
import json
import os
import re
import sys
import time

# PyTorch holds thousands of kernels; a process that runs a few of them need not load them all.
os.environ.setdefault("CUDA_MODULE_LOADING", "LAZY")
os.environ.setdefault("CUDA_DEVICE_ORDER", "PCI_BUS_ID")

import expectations  # noqa: E402
import intake_process  # noqa: E402

_GIB = 1 << 30
_NOTE = 110


def _order(path):
    """Problem numbers as numbers: 2_x before 10_x."""
    number = re.match(r"\d+", os.path.basename(path))
    return os.path.dirname(path), int(number.group()) if number else 0, path


def files_of(places):
    paths = []
    for place in places:
        if os.path.isdir(place):
            paths += [os.path.join(place, name) for name in os.listdir(place) if name.endswith(".py")]
        elif os.path.isfile(place):
            paths.append(place)
        else:
            raise SystemExit(f"{place}: no such file or folder; give a folder of problem files")
    return sorted(paths, key=_order)


def manifests_of(paths):
    """Folder -> manifest, where there is one."""
    folders = {os.path.dirname(path) for path in paths}
    return {folder: expectations.load(folder) for folder in folders
            if os.path.exists(os.path.join(folder, "manifest.json"))}


def verdict_of(reply):
    """(verdict, note)."""
    if reply.get("error"):
        return ("failed" if reply["kind"] in ("crash", "internal", "request") else "refused",
                f"{reply['kind']}: {reply['message']}")
    signature = reply["signature"]
    if signature["degenerate"]:
        return "degenerate", signature["degenerate_reason"]
    if signature["trivial_passes"]:
        return "weak inputs", f"passes on its own inputs: {', '.join(signature['trivial_passes'])}"
    return "supported", ""


def figures(taken):
    """The columns between verdict and note."""
    reply = taken.reply
    if reply.get("error"):
        return f"{'':17} {taken.seconds:7.2f} {'':7} {'':7} {'':9}"
    signature = reply["signature"]
    baselines = [entry["median_ms"] for entry in reply.get("baselines", ()) if entry["name"] == "eager"]
    eager = f"{baselines[0]:9.4f}" if baselines else " " * 9
    return (f"{signature['operator_family'][:17]:17} {taken.seconds:7.2f} {signature['bytes_min'] / _GIB:7.2f} "
            f"{signature['bytes_full'] / _GIB:7.2f} {eager}")


def stage_medians(replies):
    """Stage -> median seconds over the files that were taken in."""
    by_stage = {}
    for entry in replies.values():
        for stage, value in entry["reply"].get("seconds", {}).items():
            by_stage.setdefault(stage, []).append(value)
    return {stage: sorted(values)[len(values) // 2] for stage, values in by_stage.items()}


def compare(taken, manifests, on_gpu, eval_mode):
    """Differences from the manifest of the file's folder."""
    entry = manifests.get(os.path.dirname(taken.job.key), {}).get(taken.job.name + ".py")
    if entry is None:
        return ["not in the manifest"] if os.path.dirname(taken.job.key) in manifests else []
    if eval_mode and "eval_mode" not in entry:
        return []
    pytorch = intake_process.pytorch_version()
    expected = expectations.expected_for(entry, pytorch, on_gpu, eval_mode)
    return expectations.differences(expected, taken.reply, pytorch < (2, 0) and not on_gpu)


def main(arguments):
    parser = argparse.ArgumentParser(prog="run.py", description="takes in a folder of KernelBench problem files")
    parser.add_argument("places", nargs="+", metavar="FOLDER_OR_FILE")
    parser.add_argument("--device", default="cpu", help="cpu (default) or cuda:N")
    parser.add_argument("--at-once", type=int, default=1, help="files at a time (default 1: it times them best)")
    parser.add_argument("--deadline", type=float, default=120.0, help="seconds for one file (default 120)")
    parser.add_argument("--baseline-seconds", type=float, default=0.02, help="time for the eager baseline of a file")
    parser.add_argument("--eval-mode", action="store_true", help="call .eval() before anything")
    parser.add_argument("--json", metavar="FILE", help="also write every reply there")
    parser.add_argument("--timings", action="store_true", help="where each file's seconds went")
    options = parser.parse_args(arguments)

    paths = files_of(options.places)
    manifests = manifests_of(paths)
    jobs = intake_process.jobs_of(paths, {"eval_mode": True} if options.eval_mode else {})
    verdicts, seconds, failures, replies = collections.Counter(), [], [], {}
    width = max((len(job.name) for job in jobs), default=4)
    columns = f"{'family':17} {'seconds':>7} {'min GiB':>7} {'max GiB':>7} {'eager ms':>9}"
    print(f"{'problem':{width}}  {'verdict':11} {columns}")
    begun = time.monotonic()
    for taken in intake_process.take_in_all(jobs, options.device, options.at_once, options.deadline,
                                            baseline_seconds=options.baseline_seconds):
        verdict, note = verdict_of(taken.reply)
        wrong = compare(taken, manifests, options.device != "cpu", options.eval_mode)
        if verdict == "failed" and not wrong:
            wrong = ["the process did not answer as it should"]
        verdicts[verdict] += 1
        seconds.append((taken.seconds, taken.job.name))
        replies[taken.job.key] = {"reply": taken.reply, "seconds": taken.seconds, "stages": taken.stages}
        print(f"{taken.job.name:{width}}  {verdict:11} {figures(taken)}  {' '.join(note.split())[:_NOTE]}", flush=True)
        if options.timings and "seconds" in taken.reply:
            print("  " + intake_process.timings.table(taken.job.name, taken.reply["seconds"]), flush=True)
        for sentence in wrong:
            failures.append(f"{taken.job.name}: {sentence}")
            print(f"{'':{width}}  FAILED: {sentence}", flush=True)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(replies, file)
    told = ", ".join(f"{count} {verdict}" for verdict, count in sorted(verdicts.items()))
    print(f"{len(paths)} files on {options.device}, PyTorch {intake_process.torch.__version__}: {told or 'none'}")
    if seconds:
        ordered = sorted(seconds)
        median, (longest, slowest) = ordered[len(ordered) // 2][0], ordered[-1]
        print(f"intake: median {median:.2f} s, longest {longest:.2f} s ({slowest}), "
              f"{sum(second > 2.0 for second, _ in ordered)} over 2 s; {time.monotonic() - begun:.1f} s in all")
    if options.timings:
        print("medians: " + intake_process.timings.table("a file", stage_medians(replies)))
    ok = not failures and paths
    print("ok" if ok else f"FAILED: {len(failures)} differences" if paths else "FAILED: no problem files found")
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
