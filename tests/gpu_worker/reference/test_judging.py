"""What the judge makes of a candidate's buffers: each outcome, the order in which they win, and classes."""

import unittest

import support  # first: it finds the package
import corpus
import torch
from warpsmith_oracle import fills
from warpsmith_oracle.errors import OracleError

FP32, TF32, BF16 = "PRECISION_CLASS_FP32", "PRECISION_CLASS_TF32", "PRECISION_CLASS_BF16"


class WithBench(unittest.TestCase):
    def bench(self, name, **keywords):
        bench = support.Bench(name, **keywords)
        self.addCleanup(bench.close)
        return bench

    def expect(self, report, outcome, *words):
        self.assertEqual(report["outcome"], "OUTCOME_" + outcome, report["message"])
        for word in words:
            self.assertIn(word, report["message"])
        self.assertEqual(report["verdict"]["passed"], outcome == "OK")


class Correct(WithBench):
    def test_the_right_answer_passes_everywhere(self):
        for name in ("small_linear", "wide_softmax", "many_outputs", "mixed_types", "strided", "hidden", "tied",
                     "argmax", "masked", "casts", "no_double", "batch_norm"):
            bench = self.bench(name)
            for number, distribution in enumerate(bench.signature["distributions"]):
                bench.begin(seed=number, distribution=distribution, pattern=number % 2, large=number % 2 == 1)
                bench.write_answer()
                report = bench.judge()
                self.expect(report, "OK")
                self.assertEqual(report["verdict"]["reached"], FP32)
                self.assertTrue(report["verdict"]["kernelbench_passed"])
                self.assertEqual(report["verdict"]["distribution"], distribution)

    def test_inputs_lie_in_the_published_strides(self):
        bench = self.bench("strided")
        bench.begin()
        values = bench.trials.slots[0].case.values
        for name in ("transposed", "gaps", "input.output"):
            self.assertTrue(torch.equal(bench.tensor(name), values[name]))
        output = (bench.tensor("transposed") + bench.tensor("gaps") + bench.tensor("input.output")).t()
        bench.tensor("output").copy_(output)
        self.expect(bench.judge(), "OK")

    def test_parameters_come_back_each_trial(self):
        bench = self.bench("small_linear")
        bench.begin(seed=1)
        bench.tensor("linear.weight").zero_()
        bench.begin(seed=2)
        bench.write_answer()
        self.expect(bench.judge(), "OK")

    def test_equal_outputs_have_equal_digests(self):
        bench = self.bench("small_linear", slots=2)
        for slot in (0, 1):
            bench.begin(seed=5, slot=slot)
            bench.write_answer(slot=slot)
        first, second = bench.judge(slot=0), bench.judge(slot=1)
        self.assertEqual(first["output_digest"], second["output_digest"])
        bench.tensor("output", slot=1)[0, 0] *= 1.0000002
        self.assertNotEqual(bench.judge(slot=1)["output_digest"], first["output_digest"])


class Misuse(WithBench):
    def broken(self, bench, name, at, value=None):
        bench.begin()
        bench.write_answer()
        whole, offset, size = bench.raw(name)
        place = offset + (size if at >= 0 else 0) + at
        whole[place] = (int(whole[place]) ^ 1) if value is None else value
        return bench.judge()

    def test_guards(self):
        bench = self.bench("small_linear", scratch=(("partial", 1000),))
        for name in ("output", "partial", "x", "linear.bias"):
            behind, before = self.broken(bench, name, 0), self.broken(bench, name, -1)
            self.expect(behind, "OUT_OF_BOUNDS", "behind the end of " + name, "the first 0 bytes behind")
            self.expect(before, "OUT_OF_BOUNDS", "before the start of " + name, "the last 1 bytes before")
            self.expect(self.broken(bench, name, 60000), "OUT_OF_BOUNDS", name)

    def test_copying_one_guard_over_another_is_seen(self):
        bench = self.bench("small_linear")
        bench.begin()
        bench.write_answer()
        source, target = bench.raw("x"), bench.raw("output")
        target[0][:target[1]] = source[0][:source[1]]
        self.expect(bench.judge(), "OUT_OF_BOUNDS")

    def test_guards_are_finite_in_every_type_and_differ_between_trials(self):
        bench = self.bench("small_linear")
        bench.begin()
        before = bench.raw("output")[0][:fills.GUARD_BYTES].clone()
        for dtype in (torch.float16, torch.bfloat16, torch.float32, torch.float64):
            for shift in range(8):
                values = before[shift:shift + 4096].clone().view(dtype)
                self.assertTrue(torch.isfinite(values.double()).all())
        bench.begin()
        self.assertFalse(torch.equal(before, bench.raw("output")[0][:fills.GUARD_BYTES]))

    def test_changed_inputs(self):
        for name in ("x", "linear.weight"):
            bench = self.bench("small_linear")
            bench.begin()
            bench.write_answer()
            bench.tensor(name)[1, 2] += 1
            self.expect(bench.judge(), "INPUT_MODIFIED", name, "element 130")

    def test_a_negative_zero_for_a_zero_is_a_change(self):
        bench = self.bench("hidden")
        bench.begin()
        bench.write_answer()
        whole, offset, _ = bench.raw("x")
        whole[offset + 3] = int(whole[offset + 3]) ^ 0x80
        self.expect(bench.judge(), "INPUT_MODIFIED", "x")

    def test_gaps_of_a_strided_input_belong_to_it(self):
        bench = self.bench("strided")
        bench.begin()
        bench.write_answer()
        whole, offset, _ = bench.raw("gaps")
        whole[offset + 4] ^= 1
        self.expect(bench.judge(), "INPUT_MODIFIED", "gaps")

    def test_the_order_in_which_outcomes_win(self):
        bench = self.bench("small_linear")
        bench.begin()
        bench.tensor("x")[0, 0] += 1  # and nothing written
        self.expect(bench.judge(), "INPUT_MODIFIED")
        whole, offset, size = bench.raw("output")
        whole[offset + size] ^= 1
        self.expect(bench.judge(), "OUT_OF_BOUNDS")


class Changes(WithBench):
    """Buffers that forward() changes."""

    def run_with(self, change, **settings):
        bench = self.bench("batch_norm", **settings)
        bench.begin()
        bench.write_answer()
        change(bench)
        return bench.judge()

    @staticmethod
    def new_values(bench):
        for name, answer in bench.trials.slots[0].case.new_values.items():
            bench.tensor(name).copy_(answer.own)

    def test_ignored_takes_the_old_and_the_new_and_nothing_else(self):
        self.expect(self.run_with(lambda bench: None), "OK")
        self.expect(self.run_with(self.new_values), "OK")
        for name in ("bn.running_mean", "bn.num_batches_tracked", "bn.weight"):
            self.expect(self.run_with(lambda bench, name=name: bench.tensor(name).fill_(7)), "INPUT_MODIFIED", name)

    def test_a_wrong_change_wins_over_an_unwritten_output(self):
        bench = self.bench("batch_norm")
        bench.begin()
        bench.tensor("bn.running_mean").fill_(0.5)
        self.expect(bench.judge(), "INPUT_MODIFIED", "bn.running_mean")

    def test_required_takes_the_new_only(self):
        self.expect(self.run_with(self.new_values, require_mutations=True), "OK")
        self.expect(self.run_with(lambda bench: None, require_mutations=True), "WRONG_OUTPUT", "must change")

    def test_a_new_value_within_rounding_is_right(self):
        def nearly(bench):
            self.new_values(bench)
            bench.tensor("bn.running_var").mul_(1.0000001)
        self.expect(self.run_with(nearly, require_mutations=True), "OK")


class Unwritten(WithBench):
    def test_nothing_written(self):
        for name in ("small_linear", "many_outputs", "argmax", "masked"):
            for pattern in (0, 1):
                bench = self.bench(name)
                bench.begin(pattern=pattern)
                self.expect(bench.judge(), "UNWRITTEN_OUTPUT", "never written")

    def test_partly_written(self):
        bench = self.bench("small_linear")
        bench.begin()
        poisoned = bench.tensor("output")[-1, -3:].clone()
        bench.write_answer()
        bench.tensor("output")[-1, -3:].view(torch.int32).copy_(poisoned.view(torch.int32))
        report = bench.judge()
        self.expect(report, "UNWRITTEN_OUTPUT", "3 of 7680", "[95, 77]")
        self.assertEqual(report["mismatch"]["wrong_elements"], 3)

    def test_one_output_of_several(self):
        bench = self.bench("many_outputs")
        bench.begin()
        left = bench.raw("output2")[0].clone()
        bench.write_answer()
        bench.raw("output2")[0].copy_(left)
        self.expect(bench.judge(), "UNWRITTEN_OUTPUT", "output2", "240 of 240")

    def test_scratch_copied_to_the_output_is_not_unwritten_but_not_finite(self):
        bench = self.bench("small_linear", scratch=(("partial", 96 * 80 * 4),))
        bench.begin()
        bench.tensor("output").view(-1).view(torch.int32).copy_(bench.tensor("partial").view(torch.int32))
        self.expect(bench.judge(), "NON_FINITE")

    def test_an_output_computed_from_its_own_poison_is_not_finite(self):
        bench = self.bench("small_linear")
        bench.begin()
        bench.tensor("output").add_(1.0)
        self.expect(bench.judge(), "NON_FINITE")

    def test_scratch_of_types_that_this_pytorch_may_not_have(self):
        widths = {"uint16": 2, "uint32": 4, "uint64": 8, "float8_e4m3fn": 1, "float8_e5m2": 1, "uint8": 1, "int64": 8,
                  "complex64": 8, "complex128": 16}
        for dtype, width in widths.items():
            with self.subTest(dtype):
                self.assertEqual(fills.element_bytes(dtype), width)
                secrets = fills.Fills()
                payload = torch.zeros(64, dtype=torch.uint8)
                secrets.fill_poison(payload, dtype, 2)
                words = payload.reshape(-1, min(width, 8))
                self.assertTrue(bool((words == words[0]).all()))
                self.assertTrue(bool(payload.any()))
                secrets.fill_large(payload, dtype)
                self.assertTrue(bool((payload == 0x3F).all()))
                self.assertEqual(len(fills.large_pattern(dtype)), 16)

    def test_large_scratch_is_finite_and_of_both_signs(self):
        bench = self.bench("small_linear", scratch=(("partial", 4000),))
        bench.begin(large=True)
        values = bench.tensor("partial")
        self.assertTrue(torch.isfinite(values).all())
        self.assertGreater(float(values.max()), 1e30)
        self.assertLess(float(values.min()), -1e30)
        bench.begin(large=False)
        self.assertTrue(torch.isnan(bench.tensor("partial")).all())

    def test_kept_outputs_of_an_earlier_launch_are_stale(self):
        bench = self.bench("small_linear")
        bench.begin(seed=1)
        bench.write_answer()
        bench.begin(seed=2, pattern=-1)
        self.expect(bench.judge(timed=True), "WRONG_OUTPUT")
        bench.write_answer()
        report = bench.judge(timed=True)
        self.expect(report, "OK")
        self.assertTrue(report["verdict"]["after_timed_launch"])


class Values(WithBench):
    def judged(self, bench, change, accepted=(FP32,), distribution="plain"):
        bench.begin(seed=3, distribution=distribution)
        bench.write_answer()
        change(bench.tensor("output"), bench)
        return bench.judge(accepted)

    def test_common_hostile_outputs(self):
        generator = torch.Generator().manual_seed(3)
        for name in ("small_linear", "wide_softmax"):
            bench = self.bench(name)
            bench.begin(seed=3)
            for what, output in corpus.common_hostile(bench.answer()["output"], generator).items():
                report = self.judged(bench, lambda tensor, _, output=output: tensor.copy_(output), (FP32, TF32, BF16))
                self.assertEqual(report["outcome"], "OUTCOME_WRONG_OUTPUT", (name, what, report["verdict"]))

    def test_zeros_for_a_softmax_pass_the_tolerance_and_fail_all_the_same(self):
        report = self.judged(self.bench("wide_softmax"), lambda tensor, _: tensor.zero_())
        self.expect(report, "WRONG_OUTPUT")
        self.assertTrue(report["verdict"]["kernelbench_passed"])

    def test_lost_bias(self):
        def lose(tensor, bench):
            tensor.copy_(bench.tensor("x") @ bench.tensor("linear.weight").t())
        self.expect(self.judged(self.bench("small_linear"), lose, (FP32, TF32, BF16)), "WRONG_OUTPUT", "output")

    def test_weights_taken_from_memory_fail_on_other_parameters(self):
        bench = self.bench("small_linear")
        weight = bench.problem.model.linear.weight.detach().clone()

        def remembered(tensor, held):
            tensor.copy_(held.tensor("x") @ weight.t() + held.tensor("linear.bias"))
        self.expect(self.judged(bench, remembered), "OK")
        self.expect(self.judged(bench, remembered, distribution="parameters"), "WRONG_OUTPUT")

    def test_classes(self):
        bench = self.bench("small_linear")

        def by(rounding):
            def compute(tensor, held):
                x, weight = rounding(held.tensor("x")), rounding(held.tensor("linear.weight"))
                tensor.copy_(x @ weight.t() + held.tensor("linear.bias"))
            return compute
        for rounding, reached in ((corpus.tf32, TF32), (corpus.half, TF32), (corpus.bfloat, BF16)):
            report = self.judged(bench, by(rounding), (reached,))
            self.expect(report, "OK")
            self.assertEqual(report["verdict"]["reached"], reached)
            report = self.judged(bench, by(rounding), (FP32,))
            self.expect(report, "WRONG_OUTPUT", "class fp32")
            self.assertEqual(report["verdict"]["reached"], reached)
        self.expect(self.judged(bench, by(corpus.bfloat), (FP32, TF32)), "WRONG_OUTPUT", "it would pass in class bf16")
        self.expect(self.judged(bench, by(corpus.tf32), (BF16,)), "OK")

    def test_low_precision_is_right_on_every_draw_of_constant_rows(self):
        # Of 300 draws with rows of both signs, whose product cancels as a whole, 20 refused these.
        bench = self.bench("product")
        for seed in range(1, 101):
            for rounding, accepted in ((corpus.tf32, TF32), (corpus.half, TF32), (corpus.bfloat, BF16)):
                bench.begin(seed=seed, distribution="constant_rows")
                bench.tensor("output").copy_(rounding(bench.tensor("A")) @ rounding(bench.tensor("B")))
                self.expect(bench.judge((accepted,)), "OK")

    def test_half_precision_that_the_module_itself_cannot_hold_is_left_out(self):
        bench = self.bench("small_linear")
        bench.problem.specs = None

        def overflow(tensor, _):
            tensor[0, 0] = float("inf")
        self.expect(self.judged(bench, overflow, (TF32,)), "NON_FINITE")
        # 1000 * 128 * weights stays below 65504; a hundred times the weights does not.
        with torch.no_grad():
            bench.problem.model.linear.weight.mul_(1e3)
        bench.problem._cases.clear()
        report = self.judged(bench, overflow, (TF32,), "mean_1000")
        self.expect(report, "OK", "left out")
        self.assertTrue(report["left_out"])
        self.expect(self.judged(bench, overflow, (FP32,), "mean_1000"), "NON_FINITE")

    def test_infinities_and_nans_sit_where_the_reference_has_them(self):
        bench = self.bench("masked")
        self.expect(self.judged(bench, lambda tensor, _: tensor[1, 0].fill_(float("nan"))), "NON_FINITE", "[1, 0]")
        self.expect(self.judged(bench, lambda tensor, _: tensor[0, 5].fill_(float("inf"))), "NON_FINITE", "[0, 5]")
        self.expect(self.judged(bench, lambda tensor, _: tensor[0, 5].fill_(-3e38)), "NON_FINITE", "[0, 5]")

    def test_the_worst_element_is_told(self):
        report = self.judged(self.bench("small_linear"), lambda tensor, _: tensor[17, 4].fill_(50.0))
        self.expect(report, "WRONG_OUTPUT", "[17, 4]", "got 50")
        self.assertEqual(report["mismatch"]["index"], [17, 4])
        self.assertEqual((report["mismatch"]["wrong_elements"], report["mismatch"]["elements"]), (1, 7680))

    def test_booleans_are_one_byte_of_zero_or_one(self):
        bench = self.bench("many_outputs")
        bench.begin()
        bench.write_answer()
        whole, offset, _ = bench.raw("output2")
        position = int(bench.answer()["output2"].view(-1).view(torch.uint8).argmax())
        whole[offset + position] = 2
        self.expect(bench.judge(), "WRONG_OUTPUT", "output2", "got 2")


class Indexes(WithBench):
    def test_ties_are_right_and_others_are_not(self):
        bench = self.bench("argmax")
        bench.begin()
        bench.write_answer()
        x, first = bench.tensor("x"), bench.tensor("output0")
        other = x.shape[1] - 1 - x.flip(1).argmax(1)
        self.assertFalse(torch.equal(other, first))
        first.copy_(other)
        self.expect(bench.judge(), "OK")
        first[3] = int(x[3].argmin())
        self.expect(bench.judge(), "WRONG_OUTPUT", "output0", "[3]")
        first[3] = 30
        self.expect(bench.judge(), "WRONG_OUTPUT")
        first[3] = -1
        self.expect(bench.judge(), "WRONG_OUTPUT")

    def test_the_same_index_twice_is_no_topk(self):
        bench = self.bench("argmax")
        bench.begin()
        bench.write_answer()
        chosen, x = bench.tensor("output1"), bench.tensor("x")
        row = next(row for row in range(20) if x[row, chosen[row, 0]] == x[row, chosen[row, 1]])
        chosen[row, 1] = chosen[row, 0]
        self.expect(bench.judge(), "WRONG_OUTPUT", "output1")


class Requests(WithBench):
    def test_wrong_buffers(self):
        bench = self.bench("small_linear")
        from warpsmith_oracle import trial

        def prepared(change):
            descriptions = [dict(entry) for entry in bench.descriptions]
            change(descriptions)
            with self.assertRaises(OracleError) as caught:
                trial.Trials(bench.problem, bench.signature, bench.folder.name + "/none", descriptions, 1)
            return caught.exception.message
        self.assertIn("lack the output", prepared(lambda all: all.pop()))
        self.assertIn("none of the problem's", prepared(lambda all: all[0].update(name="y")))
        self.assertIn("takes 49152", prepared(lambda all: all[0].update(bytes=4)))
        self.assertIn("stands twice", prepared(lambda all: all.append(dict(all[0]))))
        self.assertIn("has kind", prepared(lambda all: all[0].update(kind="BUFFER_KIND_OUTPUT")))
        self.assertIn("No such file", prepared(lambda all: None))

    def test_wrong_trials(self):
        bench = self.bench("small_linear")
        for call in (lambda: bench.judge(), lambda: bench.begin(slot=3), lambda: bench.begin(distribution="odd"),
                     lambda: bench.begin(pattern=5)):
            with self.assertRaises(OracleError) as caught:
                call()
            self.assertEqual(caught.exception.kind, "request")

    def test_files_go_with_the_buffers(self):
        import os
        bench = self.bench("small_linear")
        path = bench.trials.places()[0][0]["path"]
        self.assertEqual(os.stat(path).st_mode & 0o777, 0o600)
        self.assertEqual(bench.trials.places()[0][0]["payload_offset"] % 4096, 0)
        bench.trials.close()
        self.assertFalse(os.path.exists(path))


if __name__ == "__main__":
    unittest.main()
