#!/usr/bin/env python3
"""Runs the GPU corpora through `warpsmith evaluate` on this machine's GPU and holds every verdict against the manifest.

Usage: run.py [--warpsmith FILE] [--rounds 3] [--device N] [--only TEXT ...] [--single] [--record FILE]
              [--skip-done FILE]

Prints one line a candidate as it ends ("ok" or "FAILED", with outcome, class and time) and a summary a round; the exit
status is 0 where every verdict of every round is as it must be. --record keeps what was done, candidate by candidate;
--skip-done leaves out what such a file of an earlier run, cut off perhaps, has as right, and counts it. Both may name
the same file. Bombs that take the compiler's whole 20 s are run in the first
round only: they never reach the device, and gpu_corpus_static_test covers them too. Needs Python alone.
"""

import argparse
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[3]
CORPUS = ROOT / "tests" / "corpus" / "gpu"
PROBLEMS = ROOT / "tests" / "problems"
GRACE_SECONDS = 30  # of one candidate, beyond its runs' limit

sys.path.insert(0, str(ROOT / "benchmarks"))

import progress  # noqa: E402


def compute_capability(device):
    """Of the GPU, as 90; 90 where nvidia-smi does not say."""
    try:
        text = subprocess.run(["nvidia-smi", "-i", str(device), "--query-gpu=compute_cap", "--format=csv,noheader"],
                              capture_output=True, text=True, timeout=30, check=True).stdout
        return int(text.strip().splitlines()[0].replace(".", ""))
    except (OSError, subprocess.SubprocessError, ValueError, IndexError):
        return 90


def chosen(entries, only, capability):
    kept = [entry for entry in entries if entry.get("gpu_min_arch", 0) <= capability]
    if not only:
        return kept
    files = {entry["file"] for entry in kept if any(text in entry["file"] for text in only)}
    twins = {entry["time_not_below_of"][0] for entry in kept if entry["file"] in files and "time_not_below_of" in entry}
    return [entry for entry in kept if entry["file"] in files | twins]


def short(name):
    for prefix in ("OUTCOME_", "PRECISION_CLASS_"):
        if name.startswith(prefix):
            name = name[len(prefix):]
    return name.lower()


class Runner:
    def __init__(self, options):
        self.program = options.warpsmith
        self.device = str(options.device)
        self.run_limit = options.run_limit
        help_text = subprocess.run([self.program, "evaluate", "--help"], capture_output=True, text=True,
                                   timeout=60).stdout
        self.limit_option = ["--run-limit", str(self.run_limit)] if "--run-limit" in help_text else []
        self.batch = "--batch" in help_text and not options.single

    def evaluations(self, entries):
        """Yields (entry, evaluation or None, error text) as they come."""
        yield from self._batch(entries) if self.batch else self._one_by_one(entries)

    def _batch(self, entries):
        """One process for all; a manifest of what is wanted, with whole paths."""
        with tempfile.TemporaryDirectory(prefix="gpu-corpus-") as folder:
            manifest = pathlib.Path(folder) / "manifest.json"
            wanted = [dict(entry, file=str(CORPUS / entry["file"]), problem=str(PROBLEMS / (entry["problem"] + ".py")))
                      for entry in entries]
            manifest.write_text(json.dumps(wanted), encoding="utf-8")
            by_file = {str(CORPUS / entry["file"]): entry for entry in entries}
            command = [self.program, "evaluate", "--batch", str(manifest), "--json", "--device", self.device]
            command += self.limit_option
            with open(pathlib.Path(folder) / "errors", "w+", encoding="utf-8") as errors:
                process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True)
                try:
                    for line in process.stdout:
                        if not line.strip():
                            continue
                        answer = json.loads(line)
                        entry = by_file.pop(str((CORPUS / answer["file"]).resolve()), None)
                        if entry is not None:
                            yield entry, answer.get("evaluation"), answer.get("error", "")
                    process.wait(timeout=60)
                finally:
                    process.kill()
                    process.wait()
                errors.seek(0)
                said = errors.read()[-500:]
            if len(by_file) == len(entries):
                print(f"note: no verdict from the batch (status {process.returncode}); one process each\n{said}",
                      flush=True)
                yield from self._one_by_one(entries)
                return
            for entry in by_file.values():
                yield entry, None, f"the batch ended without a verdict (status {process.returncode}): {said}"

    def _one_by_one(self, entries):
        for entry in entries:
            command = [self.program, "evaluate", str(PROBLEMS / (entry["problem"] + ".py")),
                       str(CORPUS / entry["file"]), "--json", "--device", self.device, "--accept",
                       ",".join(entry.get("accepted", ["fp32"]))]
            try:
                done = subprocess.run(command + self.limit_option, capture_output=True, text=True,
                                      timeout=60 + GRACE_SECONDS + 20 * self.run_limit)
                yield entry, json.loads(done.stdout)["evaluation"], ""
            except subprocess.TimeoutExpired:
                yield entry, None, "the program did not end"
            except (ValueError, KeyError):
                yield entry, None, f"no verdict (status {done.returncode}): {done.stderr[-500:]}"


def median_ms(evaluation):
    return float((evaluation or {}).get("timing", {}).get("median_ms", 0.0))


def wrong_with(entry, evaluation, times):
    """What is not as the manifest says; empty where all is."""
    outcome = short(evaluation.get("outcome", ""))
    found = []
    if outcome not in [entry["expected_outcome"]] + entry.get("also_allowed", []):
        found.append(f"outcome {outcome}, expected {entry['expected_outcome']}")
    reasons = ([entry["expected_reason"]] if "expected_reason" in entry else []) + entry.get("also_reasons", [])
    if reasons and outcome == entry["expected_outcome"] and evaluation.get("reason", "") not in reasons:
        found.append(f"reason {evaluation.get('reason', '')!r}, expected {reasons[0]!r}")
    text = json.dumps(evaluation)
    found += [f"{secret!r} shows in the answer" for secret in entry.get("must_not_appear", []) if secret in text]
    if outcome != "ok":
        if not evaluation.get("message"):
            found.append("no message says why")
        return found
    reached = short(evaluation.get("reached", ""))
    if entry.get("expected_class", reached) != reached:
        found.append(f"class {reached}, expected {entry['expected_class']}")
    found += [f"flag {flag} is missing" for flag in entry.get("expected_flags", [])
              if flag not in evaluation.get("flags", [])]
    if median_ms(evaluation) <= 0:
        found.append("no time")
    if "time_not_below_of" in entry:
        twin, share = entry["time_not_below_of"]
        if twin not in times:
            found.append(f"{twin}, its honest twin, has no time")
        elif median_ms(evaluation) < share * times[twin]:
            found.append(f"{median_ms(evaluation):.4f} ms, and its honest twin takes {times[twin]:.4f}")
    return found


def describe(entry, evaluation):
    outcome = short(evaluation.get("outcome", ""))
    parts = [outcome]
    if evaluation.get("reason"):
        parts.append(evaluation["reason"])
    if outcome == "ok":
        parts += [short(evaluation.get("reached", "")), f"{median_ms(evaluation):.4f} ms"]
        parts += [flag for flag in evaluation.get("flags", []) if flag != "imprecise"]
    elif outcome != entry["expected_outcome"]:
        parts.append(f"(also allowed; expected {entry['expected_outcome']})")
    parts.append(f"{float(evaluation.get('evaluate_seconds', 0)):.2f} s")
    return " ".join(parts)


class Done:
    """Verdicts of earlier runs and of this one, by round and file, kept in a file as they come."""

    def __init__(self, path, earlier):
        rows = (earlier or {}).get("candidates", [])
        # What went wrong is tried again.
        self._rows = {(row["round"], row["file"]): row for row in rows if not row["wrong"]}
        self._record = progress.Record(path, {})

    def __contains__(self, key):
        return key in self._rows

    def files(self, number):
        return {file for round_number, file in self._rows if round_number == number}

    def times(self, number):
        return {row["file"]: row["ms"] for (round_number, _), row in self._rows.items()
                if round_number == number and row["ms"] > 0}

    def add(self, number, entry, evaluation, found):
        self._rows[number, entry["file"]] = {
            "round": number, "file": entry["file"], "outcome": short((evaluation or {}).get("outcome", "no verdict")),
            "ms": median_ms(evaluation), "seconds": float((evaluation or {}).get("evaluate_seconds", 0)),
            "wrong": found}
        self._record.content = {"candidates": list(self._rows.values())}
        self._record.save()


class Round:
    """Judges each verdict as it comes; one that is held against an honest twin's time waits for the twin."""

    def __init__(self, number, quiet, done):
        self.number, self.failures = number, 0
        self.counts = {"honest": [0, 0], "hostile": [0, 0]}
        self._quiet, self._done = quiet, done
        self._times = done.times(number)
        self._waiting = []

    def skip(self, entry):
        count = self.counts[entry["file"].split("/")[0]]
        count[0] += 1
        count[1] += 1

    def add(self, entry, evaluation, error):
        if median_ms(evaluation) > 0:
            self._times[entry["file"]] = median_ms(evaluation)
        if evaluation and entry.get("time_not_below_of", [None])[0] not in (None, *self._times):
            self._waiting.append((entry, evaluation, error))
            return
        self._judge(entry, evaluation, error)
        ready = [one for one in self._waiting if one[0]["time_not_below_of"][0] in self._times]
        self._waiting = [one for one in self._waiting if one not in ready]
        for one in ready:
            self._judge(*one)

    def finish(self):
        for one in self._waiting:
            self._judge(*one)
        self._waiting = []

    def _judge(self, entry, evaluation, error):
        found = wrong_with(entry, evaluation, self._times) if evaluation else [error or "no verdict"]
        count = self.counts[entry["file"].split("/")[0]]
        count[1] += 1
        count[0] += not found
        self.failures += bool(found)
        if found:
            message = (evaluation or {}).get("message", "")[:300]
            print(f"FAILED {entry['file']}: {'; '.join(found)} [{message}]", flush=True)
        elif not self._quiet:
            print(f"ok     {entry['file']}: {describe(entry, evaluation)}", flush=True)
        self._done.add(self.number, entry, evaluation, found)


def run_round(runner, entries, number, quiet, done):
    started = time.monotonic()
    this = Round(number, quiet, done)
    due = [entry for entry in entries if (number, entry["file"]) not in done]
    for entry in entries:
        if (number, entry["file"]) in done:
            this.skip(entry)
    if len(due) < len(entries):
        print(f"note: {len(entries) - len(due)} of round {number} were right in an earlier run", flush=True)
    if due:
        for entry, evaluation, error in runner.evaluations(due):
            this.add(entry, evaluation, error)
    this.finish()
    print(f"{'FAILED' if this.failures else 'ok    '} round {number}: honest {this.counts['honest'][0]} of "
          f"{this.counts['honest'][1]} accepted, hostile {this.counts['hostile'][0]} of {this.counts['hostile'][1]} "
          f"caught, {time.monotonic() - started:.1f} s", flush=True)
    return this.failures


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--warpsmith", default=shutil.which("warpsmith") or str(ROOT / "build/dev/bin/warpsmith"))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--device", type=int, default=0)
    parser.add_argument("--run-limit", type=float, default=2.0, help="seconds of one run of a plan")
    parser.add_argument("--only", nargs="*", default=[], help="files whose names hold one of these texts")
    parser.add_argument("--single", action="store_true", help="one process a candidate, even where --batch is known")
    parser.add_argument("--verbose", action="store_true", help="every line in every round")
    parser.add_argument("--record", metavar="FILE", help="keep what was done there, as it is done")
    parser.add_argument("--skip-done", metavar="FILE", help="leave out what this record has as right")
    options = parser.parse_args()
    done = Done(options.record or options.skip_done, progress.load(options.skip_done) if options.skip_done else None)
    entries = json.loads((CORPUS / "manifest.json").read_text(encoding="utf-8"))
    entries = chosen(entries, options.only, compute_capability(options.device))
    if not entries:
        sys.exit("no candidate's file name holds that text")
    runner = Runner(options)
    failures = 0
    for number in range(1, options.rounds + 1):
        due = [entry for entry in entries if number == 1 or not entry.get("slow")]
        failures += run_round(runner, due, number, number > 1 and not options.verbose, done)
    print(f"{'FAILED' if failures else 'ok    '} GPU corpora: {len(entries)} candidates, {options.rounds} rounds, "
          f"{failures} wrong verdicts", flush=True)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
