#!/usr/bin/env python3
"""Whole searches on every GPU of this machine: `warpsmith run` with the catalog, PostgreSQL and all services, from a
bundle with services or a build. Needs Python alone.

    run.py [--rounds 3] [--preset standard] [--accept CLASSES] [--baselines all|eager] [--seconds 150] [--record FILE]
           [--reports FOLDER] [PROBLEM.py...]
    run.py --batch PATH [--least 40] [the same options]

For each problem: the search ends well and the kernel it found is at least as fast as the first one that was right; and
every GPU has had some of the work. --batch: a folder's or a list's problems as one batch, of which at least so many must be
solved in the time; prints fast_p. Prints a line a check, what failed, and a table.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[3]
MOST_REPORTS = 4  # pages of single searches beside a batch's
DEFAULT = ["softmax_4096_65536", "layer_norm_16_64_256_256"]


def program():
    folder = os.environ.get("WARPSMITH_BIN_DIR")
    return str(pathlib.Path(folder) / "warpsmith") if folder else "warpsmith"


def gpus():
    try:
        listed = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, timeout=60, check=False).stdout
    except OSError:
        return 0
    return sum(line.startswith("GPU ") for line in listed.splitlines())


def say(good, text):
    print(f"{'ok    ' if good else 'FAILED'} {text}", flush=True)
    return good


class Cluster:
    """The one that `warpsmith up` starts on this machine."""

    def __init__(self, folder):
        self.folder = folder

    def call(self, *arguments, timeout=120):
        return subprocess.run([program(), *arguments, "--data-dir", self.folder], capture_output=True, text=True,
                              timeout=timeout, check=False)

    def json(self, *arguments, timeout=120):
        done = self.call(*arguments, "--json", timeout=timeout)
        try:
            return json.loads(done.stdout)
        except ValueError:
            raise RuntimeError(f"{arguments[0]}: status {done.returncode}: "
                               f"{' '.join((done.stdout + done.stderr).split())[-400:]}") from None

    def __enter__(self):
        started = self.call("up", "--device", "cuda" if gpus() else "emulated")
        if started.returncode:
            raise RuntimeError("up: " + " ".join((started.stdout + started.stderr).split())[-600:])
        return self

    def __exit__(self, *_):
        self.call("down")


def evaluated(tree):
    return [candidate for idea in tree.get("ideas", []) for candidate in idea.get("candidates", [])
            if candidate.get("evaluation", {}).get("worker_id")]


def settings(options):
    return ["--rounds", str(options.rounds), "--preset", options.preset, "--accept", options.accept, "--baselines",
            options.baselines]


def show_failures(candidates):
    for candidate in candidates:
        evaluation = candidate["evaluation"]
        if evaluation["outcome"] != "OUTCOME_OK":
            print(f"  {evaluation['outcome']}: {candidate.get('title', '')} "
                  f"{' '.join(evaluation.get('message', '').split())[:160]}")


def write_report(cluster, wanted, name, folder):
    """The page of a search or a batch."""
    done = cluster.call("report", wanted, "--output", os.path.join(folder, name + ".html"))
    return say(done.returncode == 0, f"{name}: report {done.stderr.strip()[-300:]}")


def search(cluster, path, options, seconds):
    """What the search answered and its tree, or nothing where it did not end well."""
    name, began = path.stem, time.monotonic()
    try:
        found = cluster.json("run", str(path), *settings(options), timeout=seconds)["search"]
        tree = cluster.json("tree", found["id"])
        if options.reports:
            write_report(cluster, found["id"], name, options.reports)
    except (RuntimeError, KeyError, subprocess.TimeoutExpired) as error:
        say(False, f"{name}: {error!r}")
        for command in (("list",), ("status",), ("explain",)):
            print(cluster.call(*command).stdout, flush=True)
        return False, None
    taken = time.monotonic() - began
    candidates = evaluated(tree)
    right = [c for c in candidates if c["evaluation"]["outcome"] == "OUTCOME_OK"]
    good = say(found.get("state") == "SEARCH_STATE_DONE" and bool(right),
               f"{name}: {len(candidates)} kernels evaluated, {len(right)} right, {len(found.get('rounds', []))} "
               f"rounds, {taken:.0f} s {found.get('error', '')}")
    show_failures(candidates)
    if not right:
        return False, None
    first = min((c["round"] if "round" in c else 0, c["evaluation"]["timing"]["median_ms"]) for c in right)[1]
    best = found["best_ms"]
    good = say(best <= first * 1.01, f"{name}: best {best:.4f} ms, first right {first:.4f} ms") and good
    return good, {"name": name, "seconds": taken, "found": found, "tree": tree}


def search_batch(cluster, options, deadline):
    """The batch at its end, or as far as it came, with the trees of its searches."""
    batch_id = cluster.json("batch", "submit", options.batch, *settings(options))["id"]
    began = time.monotonic()
    while True:
        batch = cluster.json("batch", "show", batch_id)
        totals = batch["totals"]
        if batch["state"] in ("done", "cancelled") or time.monotonic() > deadline:
            break
        time.sleep(2)
    print(cluster.call("batch", "show", batch_id).stdout, flush=True)
    trees = []
    for problem in batch["problems"]:
        if problem.get("best_candidate_id"):
            trees.append(cluster.json("tree", problem["search_id"]))
        elif problem.get("tasks_waiting") or problem.get("error"):
            print(cluster.call("explain", problem["search_id"]).stdout, flush=True)
    candidates = [candidate for tree in trees for candidate in evaluated(tree)]
    show_failures(candidates)
    good = say(totals.get("solved", 0) >= options.least,
               f"batch {batch['state']} after {time.monotonic() - began:.0f} s: {totals.get('solved', 0)} of "
               f"{totals['problems']} problems solved ({options.least} asked), {totals.get('failed', 0)} failed, "
               f"{len(candidates)} kernels of the solved evaluated")
    print(f"  fast_0 {totals.get('fast_0', 0):.3f}, fast_1 {totals.get('fast_1', 0):.3f}, "
          f"fast_1.5 {totals.get('fast_1_5', 0):.3f}, fast_2 {totals.get('fast_2', 0):.3f}")
    if options.reports:
        good = write_report(cluster, batch_id, "batch", options.reports) and good
        for problem in batch["problems"] if len(batch["problems"]) <= MOST_REPORTS else []:
            good = write_report(cluster, problem["search_id"], problem["name"], options.reports) and good
    return good, batch, trees


def check_workers(trees):
    """Every GPU had a share of the work."""
    by_worker = {}
    for tree in trees:
        for candidate in evaluated(tree):
            worker = candidate["evaluation"].get("worker_id", "?")
            by_worker[worker] = by_worker.get(worker, 0) + 1
    wanted = max(1, gpus())
    return 0 if say(len(by_worker) == wanted and min(by_worker.values()) > 0,
                    f"{wanted} GPUs had work: {by_worker}") else 1


def show(kept):
    print(f"{'problem':28} {'eager ms':>9} {'best ms':>9} {'ratio':>7}  idea")
    for answer in kept:
        found = answer["found"]
        eager = [b["median_ms"] for b in found["problem"].get("baselines", []) if b["name"] == "eager"]
        lineage = len(answer["tree"].get("best_lineage", []))
        print(f"{answer['name']:28} {eager[0] if eager else float('nan'):9.4f} {found['best_ms']:9.4f} "
              f"{found['best_ratio_to_eager']:7.2f}  {lineage} kernels from the first to the best")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("problems", nargs="*", metavar="PROBLEM.py")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--preset", default="standard")
    parser.add_argument("--accept", default="fp32", help="precision classes")
    parser.add_argument("--baselines", default="eager", choices=["eager", "all"], help="all: torch.compile too")
    parser.add_argument("--batch", metavar="PATH", help="its problems as one batch")
    parser.add_argument("--least", type=int, default=40, help="problems of the batch that must be solved")
    parser.add_argument("--reports", metavar="FOLDER", help="one page a search")
    parser.add_argument("--seconds", type=float, default=150, help="for all of it")
    parser.add_argument("--record", metavar="FILE", help="what each search answered")
    options = parser.parse_args()
    paths = [pathlib.Path(path) for path in options.problems] or [
        ROOT / "tests" / "problems" / "headline" / (name + ".py") for name in DEFAULT]
    deadline, failures, kept, batch, trees = time.monotonic() + options.seconds, 0, [], None, []
    with tempfile.TemporaryDirectory(prefix="warpsmith-search-") as folder:
        # Services drop to a user of their own where they are started by root.
        os.chmod(folder, 0o755)
        with Cluster(os.path.join(folder, "cluster")) as cluster:
            if options.batch:
                good, batch, trees = search_batch(cluster, options, deadline)
                failures += not good
                paths = []
            for path in paths:
                left = deadline - time.monotonic()
                if left < 10:
                    failures += not say(False, f"{path.stem}: no time was left")
                    continue
                good, answer = search(cluster, path, options, left)
                failures += not good
                kept += [answer] if answer else []
    trees += [answer["tree"] for answer in kept]
    failures += check_workers(trees) if trees else 1
    if kept:
        show(kept)
    if options.record:
        found = {"batch": batch, "trees": trees} if options.batch else kept
        pathlib.Path(options.record).write_text(json.dumps(found), encoding="utf-8")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
