#!/usr/bin/env python3
"""Many candidates in a row through one process: every verdict right, memory of the host and of the GPU flat.

    soak.py [--count 2000]

Seven of ten are right, the others wrong, out of bounds, endless or no CUDA at all. Memory is sampled once a second;
from the first quarter's median to the last's the host's may grow by 64 MiB and the GPU's by 32 MiB.
"""

import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))

import batch  # noqa: E402
import candidates  # noqa: E402

WORKLOAD = "small_softmax"
HOST_MIB = 64
GPU_MIB = 32


def spoil(text, how):
    """A candidate that must get another verdict, and which."""
    if how == "compile":
        return text + "\nnot CUDA;\n", {"compile_error"}
    if how == "wrong":
        return text.replace("1.0f / ", "0.5f / "), {"wrong_output"}
    if how == "illegal":
        return text.replace("output + row", "output + (row + (1ull << 40))"), {"illegal_access"}
    wait = "while (clock64() != 0) __nanosleep(1000);\n  "
    return text.replace("const size_t row", wait + "const size_t row"), {"timeout"}


def backlog_of(count, folder):
    entries, expected = [], {}
    texts = candidates.sources(WORKLOAD, count, first=int(time.time()) % 1000000000)
    for i, text in enumerate(texts):
        wanted = {"ok"}
        # An endless one costs its whole time limit, so there are few.
        how = {3: "wrong", 6: "compile", 9: "illegal"}.get(i % 10)
        if i % 100 == 50:
            how = "endless"
        if how:
            text, wanted = spoil(text, how)
        path = os.path.join(folder, f"soak_{i:05d}.cu")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        expected[path] = wanted
        entries.append({"file": path, "problem": candidates.problem_file(WORKLOAD), "accepted": ["fp32"]})
    return entries, expected


def tree(pid):
    """The process and everything below it."""
    children = {}
    for folder in pathlib.Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                fields = (folder / "stat").read_text().rsplit(")", 1)[1].split()
                children.setdefault(int(fields[1]), []).append(int(folder.name))
            except (OSError, IndexError, ValueError):
                continue
    found, due = [], [pid]
    while due:
        found.append(due.pop())
        due += children.get(found[-1], [])
    return found


def host_mib(pid):
    """Proportional memory of the lasting processes: executors come and go and are left out."""
    total = 0
    for one in tree(pid):
        try:
            name = pathlib.Path(f"/proc/{one}/comm").read_text()
            if "executor" in name or "compiler" in name:
                continue
            for line in pathlib.Path(f"/proc/{one}/smaps_rollup").read_text().splitlines():
                if line.startswith("Pss:"):
                    total += int(line.split()[1])
        except (OSError, ValueError):
            continue
    return total / 1024


def gpu_mib():
    asked = subprocess.run(["nvidia-smi", "-i", os.environ.get("WARPSMITH_GPU", "0"), "--query-gpu=memory.used",
                            "--format=csv,noheader,nounits"], capture_output=True, text=True, timeout=30)
    return float(asked.stdout.strip() or 0)


class Sampler(threading.Thread):
    def __init__(self, backlog):
        super().__init__(daemon=True)
        self.backlog, self.samples, self.ended = backlog, [], threading.Event()

    def run(self):
        while not self.ended.wait(1.0):
            if self.backlog.pid:
                self.samples.append((host_mib(self.backlog.pid), gpu_mib()))


def say(good, text):
    print(f"{'ok    ' if good else 'FAILED'} {text}", flush=True)
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=2000)
    options = parser.parse_args()
    failures, wrong, seen = 0, 0, 0
    with tempfile.TemporaryDirectory(prefix="warpsmith-soak-") as folder:
        entries, expected = backlog_of(options.count, folder)
        backlog = batch.Batch(entries, device=os.environ.get("WARPSMITH_GPU", "0"), deadline=40 + 0.8 * options.count)
        sampler = Sampler(backlog)
        sampler.start()
        first = last = 0.0
        for seconds, answer in backlog:
            seen, first, last = seen + 1, first or seconds, seconds
            wanted = expected[answer["file"]]
            if batch.outcome(answer) not in wanted:
                wrong += 1
                if wrong <= 5:
                    say(False, f"{os.path.basename(answer['file'])}: {batch.outcome(answer)}, not {'/'.join(wanted)} "
                               f"{((answer.get('evaluation') or {}).get('message') or answer.get('error', ''))[:160]}")
        sampler.ended.set()
        sampler.join(5)
    failures += not say(seen == options.count and wrong == 0 and backlog.status == 0,
                        f"{seen} of {options.count} verdicts in a row, {wrong} wrong, "
                        f"{(last - first) / max(1, seen - 1):.3f} s each, status {backlog.status} "
                        f"{backlog.said[-300:] if seen < options.count else ''}")
    # The start, when PyTorch and the problem come in, is not flat.
    samples = sampler.samples[min(10, len(sampler.samples) // 4):]
    quarter = len(samples) // 4
    if quarter < 2:
        return 1 if not say(failures == 0, f"{len(samples)} samples of memory: too short a run to judge") else 0
    for index, (title, allowed) in enumerate([("host", HOST_MIB), ("GPU", GPU_MIB)]):
        early = statistics.median(sample[index] for sample in samples[:quarter])
        late = statistics.median(sample[index] for sample in samples[-quarter:])
        failures += not say(late - early <= allowed,
                            f"{title} memory {early:.0f} MiB in the first quarter, {late:.0f} in the last "
                            f"({late - early:+.1f}, {allowed} allowed), {len(samples)} samples")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
