"""What intake publishes about problems."""

import unittest

import support
from warpsmith_oracle.errors import OracleError


def entries(signature):
    return {entry["name"]: entry for entry in signature["tensors"]}


class Signature(unittest.TestCase):
    def test_batch_norm_changes_its_statistics(self):
        signature = support.take_in("batch_norm")["signature"]
        mutated = {name for name, entry in entries(signature).items() if entry.get("mutated")}
        self.assertEqual(mutated, {"bn.running_mean", "bn.running_var", "bn.num_batches_tracked"})
        self.assertEqual(signature["mutates_policy"], "MUTATES_POLICY_IGNORED")
        self.assertTrue(signature["training_mode"])
        self.assertEqual(entries(signature)["bn.num_batches_tracked"]["dtype"], "int64")
        self.assertEqual(entries(signature)["bn.num_batches_tracked"]["shape"], [])
        self.assertEqual(signature["operator_family"], "batch_norm")

    def test_eval_mode_changes_nothing(self):
        signature = support.take_in("batch_norm", eval_mode=True, require_mutations=True)["signature"]
        self.assertFalse(signature["training_mode"])
        self.assertFalse(any(entry.get("mutated") for entry in signature["tensors"]))
        self.assertEqual(signature["mutates_policy"], "MUTATES_POLICY_REQUIRED")

    def test_tied_weights_are_one_allocation(self):
        found = entries(support.take_in("tied")["signature"])
        self.assertEqual(found["second.weight"]["alias_of"], "first.weight")
        self.assertNotIn("alias_of", found["first.weight"])

    def test_outputs_are_flattened(self):
        signature = support.take_in("many_outputs")["signature"]
        outputs = [(entry["name"], entry["dtype"]) for entry in signature["tensors"]
                   if entry["role"] == "TENSOR_ROLE_OUTPUT"]
        self.assertEqual(outputs, [("output0", "float32"), ("output1", "float32"), ("output2", "bool")])

    def test_types_lists_and_frozen_arguments(self):
        signature = support.take_in("mixed_types")["signature"]
        found = {name: entry["dtype"] for name, entry in entries(signature).items()}
        self.assertEqual(found, {"xs[0]": "float32", "xs[1]": "float32", "mask": "bool", "positions": "int64",
                                 "output": "float32"})
        frozen = {entry["name"]: entry["json_value"] for entry in signature["frozen_arguments"]}
        self.assertEqual(frozen, {"factor": "1.5", "nothing": "null", "power": "2"})

    def test_strides_and_storage(self):
        found = entries(support.take_in("strided")["signature"])
        self.assertEqual((found["transposed"]["strides"], found["transposed"]["storage_bytes"]), ([1, 10], 960))
        reach = (1 + 9 * 48 + 23 * 2) * 4
        self.assertEqual((found["gaps"]["strides"], found["gaps"]["storage_bytes"]), ([48, 2], reach))
        self.assertEqual((found["input.output"]["strides"], found["input.output"]["storage_bytes"]), ([0, 1], 96))
        self.assertEqual(found["output"]["strides"], [10, 1])

    def test_attributes_are_named_and_seen_to_change(self):
        found = entries(support.take_in("hidden")["signature"])
        self.assertTrue(found["attr:hidden"]["mutated"])
        self.assertEqual(found["attr:hidden"]["role"], "TENSOR_ROLE_ATTRIBUTE")
        self.assertIn("attr:tables[1]", found)

    def test_dropout_is_refused_unless_in_eval_mode(self):
        source = support.source_of("dropout", "../../problems")
        from warpsmith_oracle import intake
        with self.assertRaises(OracleError) as caught:
            intake.take_in("dropout", source, {}, support.silent, "cpu", "test")
        self.assertEqual(caught.exception.kind, "stochastic")
        self.assertIn("eval mode", caught.exception.message)
        taken = intake.take_in("dropout", source, {"eval_mode": True}, support.silent, "cpu", "test")
        self.assertFalse(taken["signature"]["stochastic"])

    def test_zeros_pass_the_tolerance_for_a_wide_softmax_but_do_not_make_it_degenerate(self):
        signature = support.take_in("wide_softmax")["signature"]
        self.assertIn("zeros", signature["trivial_passes"])
        self.assertFalse(signature["degenerate"])
        self.assertEqual(signature["tolerance"], 1e-2)
        strict = support.take_in("wide_softmax", tolerance=1e-6)["signature"]
        self.assertEqual(strict["trivial_passes"], [])

    def test_a_constant_answer_is_degenerate(self):
        signature = support.take_in("constant")["signature"]
        self.assertTrue(signature["degenerate"])
        self.assertIn("zeros", signature["degenerate_reason"])

    def test_operations_and_bytes(self):
        signature = support.take_in("small_linear")["signature"]
        self.assertEqual(signature["algorithm_flops"], 96 * 80 * (2 * 128 + 1))
        self.assertEqual(signature["algorithm_bytes"], 4 * (96 * 128 + 80 * 128 + 80 + 96 * 80))
        self.assertGreater(signature["bytes_full"], signature["bytes_min"])
        self.assertGreater(signature["bytes_min"], signature["algorithm_bytes"])
        self.assertEqual(signature["operators"], ["Linear"])
        self.assertEqual(signature["distributions"],
                         ["plain", "mean_1000", "scaled", "signed", "constant_rows", "parameters"])

    def test_families(self):
        for name, family in (("small_linear", "matmul"), ("wide_softmax", "softmax"), ("argmax", "reduction")):
            self.assertEqual(support.take_in(name)["signature"]["operator_family"], family)

    def test_baseline(self):
        result = support.take_in("small_linear")
        baseline = result["baselines"][0]
        self.assertEqual((baseline["name"], baseline["device_name"], baseline["emulated"], baseline["harness_rev"]),
                         ("eager", "CPU (PyTorch)", True, "test"))
        self.assertGreater(baseline["median_ms"], 0)
        self.assertGreaterEqual(baseline["samples"], 5)


class Draws(unittest.TestCase):
    def test_seeds_of_the_problem_do_not_make_inputs_repeat(self):
        bench = support.Bench("own_seed")
        first, second = bench.problem.case(1, "plain"), bench.problem.case(2, "plain")
        for name in ("x", "y"):
            self.assertFalse((first.values[name] == second.values[name]).all())
        bench.close()

    def test_equal_seeds_give_equal_inputs_and_recent_ones_are_kept(self):
        bench = support.Bench("own_seed")
        case = bench.problem.case(1, "plain")
        self.assertIs(bench.problem.case(1, "plain"), case)
        self.assertTrue((bench.problem.make_case(1, "plain").values["x"] == case.values["x"]).all())
        bench.problem._cache_bytes = 0
        bench.problem.case(2, "plain")
        self.assertEqual(len(bench.problem._cases), 1)
        bench.close()

    def test_distributions_change_the_draws(self):
        bench = support.Bench("small_linear")
        values = {name: bench.problem.case(3, name).values["x"] for name in bench.signature["distributions"]}
        self.assertAlmostEqual(float(values["mean_1000"].mean()), 1000.0, places=2)
        self.assertGreater(float(values["scaled"].std()), 50)
        self.assertTrue((values["constant_rows"] == values["constant_rows"][:, :1]).all())
        self.assertTrue((values["constant_rows"] >= 0).all())
        self.assertGreater(len(values["constant_rows"].unique()), 1)
        weights = {name: bench.problem.case(3, name).values["linear.weight"] for name in ("plain", "parameters")}
        self.assertFalse((weights["plain"] == weights["parameters"]).any())
        bench.close()

    def test_masks_and_integers_stay(self):
        bench = support.Bench("mixed_types")
        case = bench.problem.case(1, "mean_1000")
        self.assertLess(int(case.values["positions"].max()), 10)
        self.assertGreater(float(case.values["xs[0]"].min()), 900)
        share = float(case.values["mask"].float().mean())
        self.assertTrue(0.1 < share < 0.9)
        bench.close()

    def test_casts_do_not_narrow_the_float64_run(self):
        bench = support.Bench("casts")
        case = bench.problem.case(1, "plain")
        exact = (case.values["x"].double() * 0.7 * 0.1).sum(dim=1)
        relative = ((case.outputs[0].answer - exact) / exact).abs().max()
        self.assertLess(float(relative), 1e-12)
        self.assertEqual(case.notes, [])
        bench.close()

    def test_a_module_that_refuses_float64_is_held_against_its_own_precision(self):
        bench = support.Bench("no_double")
        case = bench.problem.case(1, "plain")
        self.assertIn("does not run in float64", case.notes[0])
        self.assertTrue(case.outputs[0].stick.widened)
        self.assertIn("float64", bench.signature["module_summary"])
        bench.close()


if __name__ == "__main__":
    unittest.main()
