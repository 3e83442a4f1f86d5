"""Evaluates a backlog of distinct candidates; prints candidates an hour and where the seconds go. See evaluate.sh."""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time

import batch
import candidates
import progress

_GPU_WORKLOADS = ["softmax", "matmul", "layer_norm", "small_softmax"]
_STAGES = ["parse", "compile", "queue", "load", "prepare", "start", "quiet", "clocks", "inputs", "run", "judge",
           "measure", "reference", "profile"]
# In these the device has the candidate: it is validated or timed.
_BUSY = ["inputs", "run", "judge", "measure", "reference"]


def peer_seconds(gpu, repeats=3):
    """What each candidate costs a harness that starts PyTorch for it, before it compiles or runs anything."""
    code = "import torch; torch.zeros(1, device='cuda')" if gpu else "import torch"
    python = os.environ.get("WARPSMITH_PYTHON", sys.executable)
    times = []
    for _ in range(repeats):
        start = time.monotonic()
        subprocess.run([python, "-c", code], check=True)
        times.append(time.monotonic() - start)
    return statistics.median(times)


def line_of(answer, seconds):
    evaluation = answer.get("evaluation") or {}
    stages = evaluation.get("stage_seconds") or {}
    busy = sum(float(stages.get(stage, 0)) for stage in _BUSY)
    return (f"{os.path.basename(answer.get('file', ''))}: {batch.outcome(answer)} "
            f"{float((evaluation.get('timing') or {}).get('median_ms', 0)):.4f} ms, at {seconds:.2f} s, "
            f"device {busy:.3f} s, start {float(stages.get('start', 0)):.3f} s")


def run_workload(name, count, device, deadline, said=print):
    """`said` gets a line for each verdict as it comes."""
    with tempfile.TemporaryDirectory(prefix="warpsmith-bench-") as folder:
        # Sources that no cache has seen: the clock counts the variants on.
        paths = candidates.write(name, count, os.path.join(folder, "candidates"), first=int(time.time()) % 1000000000)
        problem = candidates.problem_file(name)
        backlog = batch.Batch([{"file": path, "problem": problem, "accepted": ["fp32"]} for path in paths],
                              device=device, deadline=deadline,
                              environment={"XDG_CACHE_HOME": os.path.join(folder, "cache")})
        answers = []
        for seconds, answer in backlog:
            answers.append((seconds, answer))
            said(line_of(answer, seconds))
    return summary(name, count, answers, backlog)


def summary(name, count, answers, backlog):
    evaluations = [answer.get("evaluation") or {} for _, answer in answers]
    wrong = [f"{os.path.basename(answer.get('file', ''))}: {batch.outcome(answer)} "
             f"{((answer.get('evaluation') or {}).get('message') or answer.get('error') or '')[:200]}"
             for _, answer in answers if batch.outcome(answer) != "ok"]
    result = {"workload": name, "asked": count, "verdicts": len(answers), "wrong": wrong, "seconds": backlog.seconds,
              "said": backlog.said if len(answers) < count else ""}
    if not answers:
        return result
    # The first verdict waits for the program, PyTorch and the problem's intake; the rate is that of the others.
    first, last = answers[0][0], answers[-1][0]
    spans = len(answers) - 1
    later = evaluations[1:] if spans else evaluations
    stages = [evaluation.get("stage_seconds") or {} for evaluation in later]
    result["until_first"] = first
    result["seconds_each"] = (last - first) / spans if spans else first
    result["an_hour"] = 3600 / result["seconds_each"] if result["seconds_each"] > 0 else 0
    result["stage_seconds"] = {stage: sum(float(values.get(stage, 0)) for values in stages) / len(later)
                               for stage in _STAGES}
    busy = sum(result["stage_seconds"][stage] for stage in _BUSY)
    result["busy_share"] = busy / result["seconds_each"] if spans else 0
    # What a candidate costs the device beyond what it is there for.
    result["device_idle"] = max(0.0, result["seconds_each"] - busy) if spans else 0
    medians = sorted(float((evaluation.get("timing") or {}).get("median_ms", 0)) for evaluation in evaluations)
    result["best_ms"] = next((value for value in medians if value > 0), 0)
    return result


def show(results, peer, gpu):
    print(f"  {'workload':16}{'verdicts':>9}{'s each':>9}{'an hour':>9}{'GPU busy':>9}{'first s':>9}{'best ms':>9}"
          f"{'x peer':>8}")
    for r in results:
        if "an_hour" not in r:
            print(f"  {r['workload']:16}{r['verdicts']:9} no verdict in {r['seconds']:.0f} s")
            continue
        busy = f"{100 * r['busy_share']:8.1f}%" if gpu else f"{'-':>9}"
        print(f"  {r['workload']:16}{r['verdicts']:9}{r['seconds_each']:9.3f}{r['an_hour']:9.0f}{busy}"
              f"{r['until_first']:9.2f}{r['best_ms']:9.4f}{r['seconds_each'] / peer:8.2f}")
    print(f"  peer: starting PyTorch {'and a context ' if gpu else ''}for each candidate, {peer:.2f} s, before it "
          "compiles or runs anything")
    shown = [stage for stage in _STAGES if any(r.get("stage_seconds", {}).get(stage, 0) > 0 for r in results)]
    if shown:
        print("  where a candidate's seconds go (parse, compile and queue overlap with others' time on the GPU)")
        print("  " + f"{'':16}" + "".join(f"{stage:>10}" for stage in shown) + f"{'GPU idle':>10}")
        for r in results:
            if "stage_seconds" in r:
                print("  " + f"{r['workload']:16}" + "".join(f"{r['stage_seconds'][stage]:10.4f}" for stage in shown)
                      + f"{r['device_idle']:10.4f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=120, help="candidates of each workload on a GPU (default 120)")
    parser.add_argument("--workload", action="append", choices=sorted(candidates.WORKLOADS),
                        help="only this; repeatable")
    parser.add_argument("--device", help="a GPU's number, or emulated; default what is there")
    parser.add_argument("--seconds", type=float, default=600, help="for all workloads together on a GPU (default 600)")
    parser.add_argument("--json", metavar="FILE", help="write the figures there too, and each verdict as it comes")
    parser.add_argument("--skip-done", metavar="FILE",
                        help="take workloads that an earlier run's --json file has whole from there")
    options = parser.parse_args()
    gpu = options.device != "emulated" and batch.gpu_present()
    workloads = options.workload or (_GPU_WORKLOADS if gpu else ["small_softmax"])
    count = options.count if gpu else min(options.count, 3)
    device = options.device if options.device != "emulated" else None
    if gpu and device is None:
        device = os.environ.get("WARPSMITH_GPU", "0")
    peer = peer_seconds(gpu)
    where = f"GPU {device}" if gpu else "the emulated device, which says nothing about a GPU"
    print(f"figures on {where}", flush=True)
    earlier = (progress.load(options.skip_done) if options.skip_done else None) or {}
    known = {r["workload"]: r for r in earlier.get("workloads", [])
             if r["verdicts"] == r["asked"] >= count and earlier.get("gpu") == gpu}
    results, start = [], time.monotonic()
    record = progress.Record(options.json, {"gpu": gpu, "peer_seconds": peer, "workloads": results, "running": None})
    for i, name in enumerate(workloads):
        if name in known:
            results.append(known[name])
            print(f"  {name}: taken from {options.skip_done}", flush=True)
            continue
        share = (options.seconds - (time.monotonic() - start)) / (len(workloads) - i)
        lines = []
        record.content["running"] = {"workload": name, "verdicts": lines}

        def said(line):
            lines.append(line)
            print(f"  {line}", flush=True)
            record.save()

        results.append(run_workload(name, count, device if gpu else None, share if gpu else 60.0, said))
        record.content["running"] = None
        record.save()
        done = results[-1]
        print(f"  {name}: {done['verdicts']} of {count} verdicts in {done['seconds']:.1f} s", flush=True)
    record.save()
    show(results, peer, gpu)
    failures = 0
    for r in results:
        # The emulated device is slow: what arrived within its minute counts.
        good = not r["wrong"] and (r["verdicts"] == r["asked"] or (not gpu and r["verdicts"] > 0))
        failures += not good
        print(f"{'ok    ' if good else 'FAILED'} {r['workload']}: {r['verdicts']} of {r['asked']} verdicts, "
              f"{len(r['wrong'])} not ok {'; '.join(r['wrong'][:3])} {r['said'][-300:]}", flush=True)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
