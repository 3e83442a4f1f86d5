"""The corpus runner and the records of long runs, with a stand-in for the program: no GPU is needed."""

import importlib.util
import io
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
from contextlib import redirect_stdout

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))

import evaluate  # noqa: E402
import progress  # noqa: E402


def load_runner():
    spec = importlib.util.spec_from_file_location("corpus_run", HERE / "run.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


run = load_runner()


def verdict(outcome="OUTCOME_OK", ms=1.0):
    return {"outcome": outcome, "reached": "PRECISION_CLASS_FP32", "message": "why", "evaluate_seconds": 0.25,
            "timing": {"median_ms": ms}}


def entry(file, outcome="ok", **more):
    return {"file": file, "problem": "relu", "expected_outcome": outcome, **more}


class FakeRunner:
    """Hands out verdicts in a given order; stops dead after `cut` of them."""

    def __init__(self, verdicts, cut=None):
        self.verdicts, self.cut, self.asked = verdicts, cut, []

    def evaluations(self, entries):
        self.asked = [one["file"] for one in entries]
        for number, one in enumerate(entries):
            if number == self.cut:
                raise KeyboardInterrupt
            yield one, self.verdicts[one["file"]], ""


class CorpusRun(unittest.TestCase):
    entries = [entry("honest/a.cu"), entry("hostile/b.cu", "wrong_output"), entry("hostile/c.cu", "suspicious")]
    verdicts = {"honest/a.cu": verdict(), "hostile/b.cu": verdict("OUTCOME_WRONG_OUTPUT", 0),
                "hostile/c.cu": verdict("OUTCOME_SUSPICIOUS")}

    def run_round(self, runner, entries, done, number=1):
        said = io.StringIO()
        with redirect_stdout(said):
            failures = run.run_round(runner, entries, number, False, done)
        return failures, said.getvalue()

    def test_a_run_that_is_cut_off_shows_what_it_did_and_is_resumed(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "record.json")
            said = io.StringIO()
            with redirect_stdout(said), self.assertRaises(KeyboardInterrupt):
                run.run_round(FakeRunner(self.verdicts, cut=2), self.entries, 1, False, run.Done(path, None))
            self.assertIn("ok     honest/a.cu: ok fp32 1.0000 ms 0.25 s", said.getvalue())
            kept = progress.load(path)["candidates"]
            self.assertEqual([row["file"] for row in kept], ["honest/a.cu", "hostile/b.cu"])
            runner = FakeRunner(self.verdicts)
            failures, said = self.run_round(runner, self.entries, run.Done(path, progress.load(path)))
            self.assertEqual((failures, runner.asked), (0, ["hostile/c.cu"]))
            self.assertIn("honest 1 of 1 accepted, hostile 2 of 2 caught", said)
            self.assertEqual(len(progress.load(path)["candidates"]), 3)
            # Another round is not done yet.
            runner = FakeRunner(self.verdicts)
            self.run_round(runner, self.entries, run.Done(path, progress.load(path)), number=2)
            self.assertEqual(len(runner.asked), 3)

    def test_what_went_wrong_is_tried_again(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "record.json")
            wrong = dict(self.verdicts, **{"hostile/b.cu": verdict()})
            failures, said = self.run_round(FakeRunner(wrong), self.entries, run.Done(path, None))
            self.assertEqual(failures, 1)
            self.assertIn("FAILED hostile/b.cu: outcome ok, expected wrong_output", said)
            runner = FakeRunner(self.verdicts)
            failures, _ = self.run_round(runner, self.entries, run.Done(path, progress.load(path)))
            self.assertEqual((failures, runner.asked), (0, ["hostile/b.cu"]))

    def test_a_time_is_held_against_the_twin_whenever_the_twin_comes(self):
        late = [entry("hostile/fast.cu", time_not_below_of=["honest/a.cu", 0.9]), entry("honest/a.cu")]
        for ms, failures in ((0.5, 1), (0.95, 0)):
            verdicts = {"hostile/fast.cu": verdict(ms=ms), "honest/a.cu": verdict(ms=1)}
            self.assertEqual(self.run_round(FakeRunner(verdicts), late, run.Done(None, None))[0], failures)
        # The twin's time of an earlier run serves too; a twin that never comes is told.
        earlier = {"candidates": [{"round": 1, "file": "honest/a.cu", "outcome": "ok", "ms": 1.0, "wrong": []}]}
        verdicts = {"hostile/fast.cu": verdict(ms=0.5)}
        self.assertEqual(self.run_round(FakeRunner(verdicts), late, run.Done(None, earlier))[0], 1)
        failures, said = self.run_round(FakeRunner(verdicts), late[:1], run.Done(None, None))
        self.assertEqual(failures, 1)
        self.assertIn("its honest twin, has no time", said)

    def test_each_line_comes_before_the_next_verdict(self):
        said, seen = io.StringIO(), []

        class Watching(FakeRunner):
            def evaluations(self, entries):
                for one in super().evaluations(entries):
                    seen.append(said.getvalue().count("\n"))
                    yield one

        with redirect_stdout(said):
            run.run_round(Watching(self.verdicts), self.entries, 1, False, run.Done(None, None))
        self.assertEqual(seen, [0, 1, 2])

    def test_a_record_that_is_no_json_is_told_by_name(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "record.json")
            pathlib.Path(path).write_text("{", encoding="utf-8")
            with self.assertRaises(SystemExit) as raised:
                progress.load(path)
            self.assertIn(path, str(raised.exception))
            self.assertIsNone(progress.load(os.path.join(folder, "none.json")))


_PROGRAM = """#!{python}
import json, sys
if "--help" in sys.argv:
    print("--batch")
    sys.exit(0)
for number, entry in enumerate(json.load(open(sys.argv[sys.argv.index("--batch") + 1]))):
    print(json.dumps({{"file": entry["file"], "evaluation": {evaluation}}}), flush=True)
"""


class Bench(unittest.TestCase):
    def bench(self, folder, *options):
        program = os.path.join(folder, "warpsmith")
        with open(program, "w", encoding="utf-8") as file:
            file.write(_PROGRAM.format(python=sys.executable, evaluation=repr(verdict())))
        os.chmod(program, 0o755)
        environment = dict(os.environ, WARPSMITH_BIN_DIR=folder, PYTHONPATH=str(ROOT / "benchmarks"))
        # What starting PyTorch costs is not asked here.
        code = "import evaluate, sys; evaluate.peer_seconds = lambda gpu: 1.0; sys.exit(evaluate.main())"
        return subprocess.run([sys.executable, "-c", code, "--device", "emulated", "--count", "3", *options],
                              capture_output=True, text=True, timeout=100, env=environment, check=False)

    def test_each_verdict_is_a_line_and_the_figures_are_kept(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "bench.json")
            done = self.bench(folder, "--json", path)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertEqual(done.stdout.count("ok 1.0000 ms"), 3)
            with open(path, encoding="utf-8") as file:
                kept = json.load(file)
            self.assertEqual(kept["workloads"][0]["verdicts"], 3)
            self.assertIsNone(kept["running"])
            again = self.bench(folder, "--skip-done", path)
            self.assertEqual(again.returncode, 0, again.stdout + again.stderr)
            self.assertIn("small_softmax: taken from", again.stdout)
            self.assertNotIn("ok 1.0000 ms", again.stdout)

    def test_the_line_says_where_the_seconds_went(self):
        answer = {"file": "/x/a.cu", "evaluation": dict(verdict(), stage_seconds={"run": 0.1, "judge": 0.05,
                                                                                  "start": 0.01, "compile": 3})}
        self.assertEqual(evaluate.line_of(answer, 1.5), "a.cu: ok 1.0000 ms, at 1.50 s, device 0.150 s, start 0.010 s")


if __name__ == "__main__":
    unittest.main()
