"""What the oracle does differently on a GPU, on a fake one (fake_gpu.py): kept slots, shared buffers, memory."""

import unittest

import support
import torch

import fake_gpu
from warpsmith_oracle import answers, buffers, draws, intake, norms, warm, wide
from warpsmith_oracle.errors import OracleError

FP32 = "PRECISION_CLASS_FP32"


@unittest.skipIf(fake_gpu.library() is None, "no C++ compiler here")
class OnAGpu(unittest.TestCase):
    def bench(self, name, limit=1 << 40, **keywords):
        support.take_in(name)  # on the CPU, once
        context = fake_gpu.gpu(limit)
        self.driver = context.__enter__()
        self.addCleanup(context.__exit__, None, None, None)
        bench = fake_gpu.DeviceBench(name, **keywords)
        self.addCleanup(bench.close)
        return bench

    def expect(self, report, outcome, *words):
        self.assertEqual(report["outcome"], "OUTCOME_" + outcome, report["message"])
        for word in words:
            self.assertIn(word, report["message"])

    def count_runs(self, bench):
        calls = []
        original = bench.problem.answer
        bench.problem.answer = lambda case: (calls.append((case.seed, case.distribution)), original(case))[1]
        return calls

    def test_every_distribution_passes(self):
        names = ("small_linear", "many_outputs", "mixed_types", "strided", "argmax", "masked", "no_double")
        for name in names:
            support.take_in(name)
        for name in names:
            bench = self.bench(name)
            for number, distribution in enumerate(bench.signature["distributions"][:3] + ["parameters"]):
                bench.begin(seed=number, distribution=distribution, pattern=number % 2, large=number % 2 == 1)
                bench.write_answer()
                report = bench.judge()
                self.expect(report, "OK")
                self.assertEqual(report["verdict"]["reached"], FP32)

    def test_places_are_handles(self):
        bench = self.bench("small_linear", scratch=(("partial", 1000),))
        place = bench.trials.places()[0][0]
        self.assertEqual(len(bytes.fromhex(place["ipc_handle"])), 64)
        self.assertEqual(place["allocation_bytes"] % (2 << 20), 0)
        self.assertEqual(place["payload_offset"] % 256, 0)
        self.assertGreaterEqual(place["allocation_bytes"], place["payload_offset"] + place["payload_bytes"])

    def test_misuse(self):
        bench = self.bench("small_linear", scratch=(("partial", 1001),))
        for name in ("output", "partial", "x", "linear.bias"):
            for at, words in ((0, f"1 bytes behind the end of {name}, the first 0 bytes behind it"),
                              (-1, f"1 bytes before the start of {name}, the last 1 bytes before it"),
                              (100001, "the first 100001 bytes behind it")):
                bench.begin()
                bench.write_answer()
                whole, offset, size = bench.raw(name)
                whole[offset + (size if at >= 0 else 0) + at] ^= 1
                self.expect(bench.judge(), "OUT_OF_BOUNDS", words)
        for name in ("x", "linear.weight"):
            bench.begin()
            bench.write_answer()
            bench.tensor(name)[1, 2] += 1
            self.expect(bench.judge(), "INPUT_MODIFIED", name, "in element 130 of its storage")
        bench.begin()
        self.expect(bench.judge(), "UNWRITTEN_OUTPUT", "7680 of 7680")
        bench.write_answer()
        self.expect(bench.judge(), "OK")

    def test_a_slot_keeps_its_inputs_between_trials_and_candidates(self):
        bench = self.bench("small_linear", slots=2)
        calls = self.count_runs(bench)
        bench.begin(seed=1, slot=0)
        bench.begin(seed=2, slot=1)
        self.assertEqual(calls, [(1, "plain"), (2, "plain")])
        handles = [place["ipc_handle"] for place in bench.trials.places()[0]]
        for scratch in (1000, 5000):
            self.assertTrue(bench.trials.end_candidate())
            described = bench.descriptions + [{"name": "more", "dtype": "int32", "bytes": scratch, "kind":
                                               buffers.SCRATCH}]
            self.assertTrue(bench.trials.renew(described, 2))
            self.assertEqual([place["ipc_handle"] for place in bench.trials.places()[0]][:-1], handles)
            for slot in (0, 1):
                with self.assertRaises(OracleError):
                    bench.judge(slot=slot)
                bench.begin(seed=slot + 1, slot=slot)
                bench.write_answer(slot=slot)
                self.expect(bench.judge(slot=slot), "OK")
        self.assertEqual(len(calls), 2)
        bench.begin(seed=3, slot=1)
        self.assertEqual(calls[2:], [(3, "plain")])

    def test_inputs_that_a_candidate_changed_are_made_again(self):
        bench = self.bench("small_linear")
        calls = self.count_runs(bench)
        bench.begin(seed=1)
        before = bench.tensor("x").clone()
        bench.tensor("x").zero_()
        bench.tensor("linear.weight").zero_()
        bench.begin(seed=1)
        self.assertEqual(len(calls), 2)
        self.assertTrue(torch.equal(bench.tensor("x"), before))
        bench.write_answer()
        self.expect(bench.judge(), "OK")
        weight = bench.tensor("linear.weight").clone()
        bench.tensor("linear.weight")[0, 0] = 9
        bench.begin(seed=1)
        self.assertEqual(len(calls), 2)  # the module's tensors need no new answers
        self.assertTrue(torch.equal(bench.tensor("linear.weight"), weight))

    def test_module_tensors_and_scratch_are_shared_inputs_and_outputs_are_not(self):
        bench = self.bench("small_linear", slots=3, scratch=(("partial", 1000),))
        places = bench.trials.places()
        names = [entry["name"] for entry in bench.descriptions]
        for name, shared in (("x", False), ("output", False), ("linear.weight", True), ("partial", True)):
            found = {slot[names.index(name)]["ipc_handle"] for slot in places}
            self.assertEqual(len(found), 1 if shared else 3, name)

    def test_redrawn_parameters_come_and_go(self):
        bench = self.bench("small_linear", slots=2)
        bench.begin(seed=1, slot=0)
        usual = bench.tensor("linear.weight").clone()
        bench.begin(seed=2, slot=1, distribution="parameters")
        self.assertFalse((bench.tensor("linear.weight") == usual).any())
        with self.assertRaises(OracleError) as caught:
            bench.judge(slot=0)
        self.assertEqual(caught.exception.kind, "order")
        bench.tensor("output", 1).copy_(bench.tensor("x", 1) @ bench.tensor("linear.weight", 1).t() +
                                        bench.tensor("linear.bias", 1))
        self.expect(bench.judge(slot=1), "OK")
        bench.begin(seed=1, slot=0)
        self.assertTrue(torch.equal(bench.tensor("linear.weight"), usual))

    def test_mutated_buffers_start_as_they_were(self):
        bench = self.bench("batch_norm")
        bench.begin(seed=1)
        before = bench.tensor("bn.running_mean").clone()
        bench.write_answer()
        for name, answer in bench.trials.slots[0].case.new_values.items():
            bench.tensor(name).copy_(answer.own)
        self.expect(bench.judge(), "OK")
        bench.tensor("bn.running_mean").fill_(5)
        self.expect(bench.judge(), "INPUT_MODIFIED", "bn.running_mean")
        self.expect(bench.judge(timed=True), "OK")  # many launches move it anywhere
        bench.begin(seed=1)
        self.assertTrue(torch.equal(bench.tensor("bn.running_mean"), before))

    def test_as_many_slots_as_memory_allows(self):
        block = 2 << 20
        # Weight and bias shared, x and output for each slot.
        bench = self.bench("small_linear", limit=(2 + 2 * 3) * block + 1000, slots=8)
        self.assertEqual(len(bench.trials.slots), 3)
        self.assertTrue(bench.trials.end_candidate())
        large = bench.descriptions + [{"name": "large", "dtype": "float32", "bytes": 3 * block, "kind":
                                       buffers.SCRATCH}]
        self.assertTrue(bench.trials.renew(large, 8))
        self.assertEqual(len(bench.trials.slots), 1)
        self.assertTrue(bench.trials.renew(bench.descriptions, 8))
        self.assertEqual(len(bench.trials.slots), 3)
        huge = bench.descriptions + [{"name": "huge", "dtype": "float32", "bytes": 1 << 31, "kind": buffers.SCRATCH}]
        with self.assertRaises(OracleError) as caught:
            bench.trials.renew(huge, 8)
        self.assertEqual(caught.exception.kind, "memory")
        self.assertIn("2.0", caught.exception.message)
        self.assertTrue(bench.trials.renew(bench.descriptions, 2))
        bench.trials.close()
        self.assertEqual(self.driver.allocated, 0)

    def test_memory_is_flat_over_candidates(self):
        bench = self.bench("small_linear", slots=2, scratch=(("partial", 1000),))
        before = self.driver.allocated
        for number in range(10):
            self.assertTrue(bench.trials.end_candidate())
            self.assertTrue(bench.trials.renew(bench.descriptions, 2))
            self.assertEqual(self.driver.allocated, before, number)

    def test_answers_of_other_slots_go_where_memory_runs_out(self):
        bench = self.bench("small_linear", slots=2)
        bench.begin(seed=1, slot=0)
        original, failures = bench.problem.case, [OracleError("memory", "full")]

        def case(seed, distribution):
            if failures:
                raise failures.pop()
            return original(seed, distribution)
        bench.problem.case = case
        bench.begin(seed=2, slot=1)
        self.assertIsNone(bench.trials.slots[0].case)
        bench.write_answer(slot=1)
        self.expect(bench.judge(slot=1), "OK")
        bench.begin(seed=1, slot=0)
        bench.write_answer(slot=0)
        self.expect(bench.judge(slot=0), "OK")

    def test_persistent_scratch_is_a_slots_own_and_stays(self):
        bench = self.bench("small_linear", slots=2)
        bench.trials.end_candidate()
        bench.descriptions.append({"name": "packed", "dtype": "float32", "bytes": 400, "kind": buffers.SCRATCH,
                                   "persistent": True})
        self.assertTrue(bench.trials.renew(bench.descriptions, 2))
        bench.begin(seed=1)
        bench.tensor("packed").fill_(3)
        bench.begin(seed=2)
        self.assertTrue((bench.tensor("packed") == 3).all())
        handles = {slot[-1]["ipc_handle"] for slot in bench.trials.places()}
        self.assertEqual(len(handles), 2)


@unittest.skipIf(fake_gpu.library() is None, "no C++ compiler here")
class Intake(unittest.TestCase):
    def test_says_what_it_says_on_a_cpu(self):
        for name in ("small_linear", "batch_norm", "argmax", "wide_softmax"):
            usual = support.take_in(name)["signature"]
            with fake_gpu.gpu():
                found = intake.take_in(name, support.source_of(name), {}, support.silent, "cpu", "", False)
            self.assertEqual(found["signature"], usual)
            self.assertEqual(found["baselines"], [])

    def test_a_rehearsal_goes_well(self):
        with fake_gpu.gpu():
            self.assertEqual(warm.rehearse("cpu"), "")


class InPieces(unittest.TestCase):
    """Float64 answers where the whole run does not fit."""

    def pieces(self, name, distribution=draws.PLAIN):
        bench = support.Bench(name)
        self.addCleanup(bench.close)
        case = bench.problem.make_case(1, distribution)
        own = [(answer.name, answer.own) for answer in case.outputs]
        return case, wide.pieces(bench.problem, case, own)

    def test_a_batch_of_rows_is_cut(self):
        for name in ("small_linear", "wide_softmax", "casts"):
            case, found = self.pieces(name)
            self.assertIsNotNone(found, name)
            whole = case.outputs[0]
            parts = answers.from_parts("output", whole.own, found["output"], None)
            self.assertLess(float((parts.answer - whole.answer).abs().max()), 2.0 ** -40 * whole.stick.scale)
            self.assertAlmostEqual(parts.stick.scale / whole.stick.scale, 1, places=9)
            for left, right in zip(parts.stick.torch_norms[:3], whole.stick.torch_norms[:3]):
                self.assertAlmostEqual(left / max(right, 1e-30), 1 if right else 0, places=4)

    def test_items_that_meet_are_not_cut(self):
        _, found = self.pieces("batch_norm")
        self.assertIsNone(found)

    def test_a_mean_over_the_batch_is_found_out(self):
        class Centred(torch.nn.Module):
            def forward(self, x):
                return x - x.mean(dim=0)

        bench = support.Bench("small_linear")
        self.addCleanup(bench.close)
        case = bench.problem.make_case(1, draws.PLAIN)
        case.model = Centred()
        own = [("output", case.model(case.arguments[0]))]
        self.assertIsNone(wide.pieces(bench.problem, case, own))


class Residuals(unittest.TestCase):
    def test_norms_are_those_of_the_float64_answer(self):
        generator = torch.Generator().manual_seed(3)
        answer = torch.randn(10000, generator=generator, dtype=torch.float64)
        own = answer.float()
        pair = norms.Pair(own, (answer - own).float())
        got = (answer * (1 + 3e-7)).float()
        whole, kept = norms.measure(got, answer, 1.0), norms.measure(got, pair, 1.0)
        self.assertEqual(whole.worst, kept.worst)
        for left, right in zip(whole[:3], kept[:3]):
            self.assertAlmostEqual(left / right, 1, places=6)


if __name__ == "__main__":
    unittest.main()
