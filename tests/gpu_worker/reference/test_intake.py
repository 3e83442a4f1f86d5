"""How intake does its work: nothing twice, memory let go in time, and where the seconds go."""

import json
import unittest
from unittest import mock

import support
import torch
from warpsmith_oracle import answers, intake, norms, operators, probes, timings
from warpsmith_oracle.errors import OracleError
from warpsmith_oracle.reference import Problem

_PROBLEM = """
import torch
CALLS, DRAWS = [], []


class Model(torch.nn.Module):
    def forward(self, x):
        CALLS.append(x.dtype)
        return torch.tanh(x) * 2


def get_inputs():
    DRAWS.append(1)
    return [torch.rand(64, 2048)]


def get_init_inputs():
    return []
"""


def taken(source, **settings):
    return intake.take_in("p", source, settings, support.silent, "cpu", "t", with_baseline=False)


class TwoRuns(unittest.TestCase):
    def test_inputs_are_drawn_once_and_the_module_runs_twice_before_the_probes(self):
        problem = Problem("p", _PROBLEM, {}, support.silent)
        watch = timings.Watch()
        case, count, outputs = intake._two_runs(problem, {}, watch)
        module = problem.file._module
        self.assertEqual(len(module.DRAWS), 1)
        self.assertEqual(module.CALLS, [torch.float32, torch.float32, torch.float64])
        self.assertEqual(case.drawn, 1)
        self.assertEqual([entry["name"] for entry in outputs], ["output"])
        self.assertGreater(count.flops, 0)
        self.assertEqual(list(watch.seconds), ["inputs", "count", "second run", "float64"])
        self.assertEqual(case.outputs[0].own.shape, (64, 2048))
        problem.close()

    def test_runs_that_differ_are_refused_before_the_float64_run(self):
        source = _PROBLEM.replace("torch.tanh(x) * 2", "torch.tanh(x) * torch.rand(1)")
        problem = Problem("p", source, {}, support.silent)
        with self.assertRaises(OracleError) as raised:
            intake._two_runs(problem, {}, timings.Watch())
        self.assertEqual(raised.exception.kind, "stochastic")
        self.assertNotIn(torch.float64, problem.file._module.CALLS)
        problem.close()

    def test_outputs_of_the_first_run_are_let_go_before_the_float64_run(self):
        problem = Problem("p", _PROBLEM, {}, support.silent)
        alive = []
        real = operators.count

        def counted(run):
            result, count = real(run)
            import weakref
            alive.append(weakref.ref(result))
            return result, count

        def wide(problem_, case):
            self.assertIsNone(alive[0]())
            return None, {}
        with mock.patch.object(operators, "count", counted), mock.patch("warpsmith_oracle.wide.run", wide):
            intake._two_runs(problem, {}, timings.Watch())
        problem.close()


class Agreement(unittest.TestCase):
    def test_outputs_agree(self):
        x = torch.randn(1000)
        self.assertTrue(norms.outputs_agree([x], [x + 1e-8], 1e-5))
        self.assertFalse(norms.outputs_agree([x], [x * 1.001], 1e-5))
        self.assertTrue(norms.outputs_agree([x], [x * 1.001], 1e-2))
        self.assertFalse(norms.outputs_agree([x], [x.double()], 1e-5))
        self.assertFalse(norms.outputs_agree([x], [x[:999]], 1e-5))
        self.assertFalse(norms.outputs_agree([x], [x, x], 1e-5))
        holes = x.clone()
        holes[3] = float("nan")
        self.assertTrue(norms.outputs_agree([holes], [holes.clone()], 1e-5))
        self.assertFalse(norms.outputs_agree([holes], [x], 1e-5))
        self.assertFalse(norms.outputs_agree([torch.arange(3)], [torch.tensor([0, 1, 3])], 1e-5))
        self.assertTrue(norms.outputs_agree([x.view(10, 100).t()], [x.view(10, 100).t()], 0.0))


class Finite(unittest.TestCase):
    def test_finite_or_not(self):
        for dtype in (torch.float16, torch.bfloat16, torch.float32, torch.float64):
            values = torch.ones(1000, dtype=dtype)
            self.assertTrue(norms.all_finite(values))
            for bad in (float("inf"), float("-inf"), float("nan")):
                values[500] = bad
                self.assertFalse(norms.all_finite(values))
                self.assertEqual(norms.count_infinite(values), 1)
            values[501] = float("inf")
            values[500] = float("-inf")
            self.assertEqual(norms.count_infinite(values), 2)
        large = torch.full((4,), torch.finfo(torch.float64).max, dtype=torch.float64)
        self.assertTrue(norms.all_finite(large))  # their sum is not
        self.assertEqual(norms.count_infinite(large), 0)
        self.assertTrue(norms.all_finite(torch.empty(0)))


class Probes(unittest.TestCase):
    def test_the_first_elements_never_decide_otherwise_than_all_would(self):
        generator = torch.Generator().manual_seed(3)
        size = probes._PREFIX * 3
        own = torch.randn(size, generator=generator)
        answer = answers.make("output", own, own.double() + 1e-9, None)
        case = mock.Mock(outputs=[answer])
        outputs = {"right": own.clone(), "zeros": torch.zeros(size), "wrong at the end": own.clone(),
                   "wrong at the start": own.clone(), "tf32": own * (1 + 1e-4),
                   "nan": torch.full((size,), float("nan"))}
        outputs["wrong at the end"][-1] += 1
        outputs["wrong at the start"][0] += 1
        for tolerance in (1e-2, 1e-4):
            for plain in (True, False):
                for name, output in outputs.items():
                    with self.subTest(name, tolerance=tolerance, plain=plain):
                        short = probes._passes([output], case, tolerance, plain)
                        with mock.patch.object(probes, "_fails_at_once", return_value=False):
                            whole = probes._passes([output], case, tolerance, plain)
                        self.assertEqual(short[1], whole[1])
                        if plain:  # elsewhere nobody asks for the tolerance
                            self.assertEqual(short[0], whole[0])

    def test_zeros_are_told_by_the_first_elements(self):
        own = torch.randn(probes._PREFIX * 2) + 3
        answer = answers.make("output", own, own.double(), None)
        self.assertTrue(probes._fails_at_once(answer, torch.zeros_like(own), 1e-2, True))
        self.assertFalse(probes._fails_at_once(answer, own, 1e-2, True))
        small = answers.make("output", own[:64].clone(), own[:64].double(), None)
        self.assertFalse(probes._fails_at_once(small, torch.zeros(64), 1e-2, True))


class Timings(unittest.TestCase):
    def test_stages_add_up(self):
        now = [0.0]
        watch = timings.Watch(lambda: now[0])
        for stage, seconds in (("build", 0.5), ("runs", 1.0), ("build", 0.25)):
            now[0] += seconds
            watch.lap(stage)
        self.assertEqual(watch.seconds, {"build": 0.75, "runs": 1.0})
        self.assertEqual(timings.table("p", dict(watch.seconds, baseline=1.0, nothing=0.0)),
                         "p: 1.750 s = build 0.750 + runs 1.000; baseline 1.000")
        self.assertEqual(timings.table("p", {}), "p: 0.000 s = nothing")

    def test_every_stage_of_an_intake_is_told(self):
        seconds = taken(_PROBLEM)["seconds"]
        self.assertEqual(list(seconds), ["build", "inputs", "count", "second run", "float64", "probes", "distributions",
                                         "operators", "baseline"])
        self.assertTrue(all(value >= 0 for value in seconds.values()))
        self.assertGreater(seconds["distributions"], 0)


class Process(unittest.TestCase):
    def test_the_process_prints_where_the_seconds_went(self):
        import subprocess
        import sys
        environment = {"PYTHONPATH": support.PACKAGE, "PATH": "/usr/bin:/bin", "PYTHONDONTWRITEBYTECODE": "1"}
        request = {"command": "intake", "name": "tanh", "source": _PROBLEM, "settings": {}, "harness_revision": "t"}
        done = subprocess.run([sys.executable, "-m", "warpsmith_oracle", "--timings"], env=environment, text=True,
                              input=json.dumps(request) + "\n", capture_output=True, timeout=100, check=False)
        lines = [line for line in done.stderr.splitlines() if line.startswith("tanh: ")]
        self.assertEqual(len(lines), 1, done.stderr)
        for stage in ("import", "distributions", "baseline"):
            self.assertIn(stage, lines[0])
        reply = json.loads(done.stdout.splitlines()[-1])
        self.assertGreater(reply["seconds"]["import"], 0)

    def test_nothing_is_rehearsed_before_the_greeting(self):
        from warpsmith_oracle import protocol, warm
        options = mock.Mock(device="cuda:0", reserve_bytes=0, memory_bytes=0, timings=False)
        server = protocol.Server(mock.Mock(), options)
        with mock.patch.object(warm, "rehearse", return_value="") as rehearse:
            self.assertFalse(server.rehearsed)
            protocol.hello(server)
            protocol.hello(server)
            rehearse.assert_called_once_with("cuda:0")
        self.assertIn("warm-up", server.startup)
        self.assertTrue(protocol.Server(mock.Mock(), mock.Mock(device="cpu", memory_bytes=0)).rehearsed)


class Typical(unittest.TestCase):
    def test_the_figure_of_coarse_ticks_lies_between_them(self):
        import random
        from warpsmith_oracle import timing
        generator = random.Random(5)
        tick, truth, samples = 0.5, 3.4, []
        for _ in range(20000):
            start = 100 * generator.random()
            samples.append(((start + truth) // tick - start // tick) * tick)
        self.assertAlmostEqual(timing.typical(samples), truth, delta=0.02)
        self.assertEqual(timing.typical([1.0, 5.0, 2.0]), 2.0)
        fine = [1 + 1e-4 * generator.random() for _ in range(101)]
        self.assertEqual(timing.typical(fine), sorted(fine)[50])
        self.assertAlmostEqual(timing.typical(samples + [900.0] * 500), truth, delta=0.02)


if __name__ == "__main__":
    unittest.main()
