"""The driver's parts in this process, without a sandbox: what it says of a candidate that is wrong by mistake."""

import math
import os
import pathlib
import sys
import tempfile
import types
import unittest

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "gpu_worker/host_code/python"))

from warpsmith_host_code import candidate, faults, outputs, shared_tensors, values, weights  # noqa: E402

CPU = torch.device("cpu")


def entry(name="output", shape=(2, 3), dtype="float32", **more):
    strides = torch.empty(shape).stride()
    return {"name": name, "shape": list(shape), "strides": list(strides), "dtype": dtype, "role": "output", **more}


class Outputs(unittest.TestCase):
    def fault(self, result, expected=None):
        with self.assertRaises(faults.Fault) as caught:
            outputs.checked(result, expected or [entry()], CPU)
        self.assertEqual(caught.exception.kind, "output")
        return caught.exception.message

    def test_what_the_module_returns_is_taken(self):
        result = torch.zeros(2, 3)
        self.assertEqual(outputs.checked(result, [entry()], CPU), [result])
        self.assertEqual(len(outputs.checked((result, None, [result]), [entry("a"), entry("b")], CPU)), 2)
        outputs.checked(torch.nn.Parameter(result), [entry()], CPU)
        outputs.checked(torch.zeros(3, 2).t(), [entry()], CPU)  # any strides: it is copied

    def test_everything_else_is_told(self):
        class Later(torch.Tensor):
            pass

        self.assertIn("shape", self.fault(torch.zeros(3, 2)))
        self.assertIn("float64", self.fault(torch.zeros(2, 3, dtype=torch.float64)))
        self.assertIn("Later", self.fault(torch.zeros(2, 3).as_subclass(Later)))
        self.assertIn("layout", self.fault(torch.zeros(2, 3).to_sparse()))
        self.assertIn("meta", self.fault(torch.zeros(2, 3, device="meta")))
        self.assertIn("NoneType", self.fault(None))
        self.assertIn("2 tensors", self.fault([torch.zeros(2, 3)] * 2))


class Values(unittest.TestCase):
    def test_values_come_back_as_they_were(self):
        given = [1, -2.5, math.inf, True, None, "text", (1, [2, (3.0,)]), {"a": (1,), 2: [None]}, torch.float16]
        self.assertEqual(values.decode(values.encode(given)), given)

    def test_tensors_come_back_bit_for_bit(self):
        for tensor in (torch.randn(3, 4).t(), torch.tensor(7), torch.zeros(0, 2), torch.tensor([True, False]),
                       torch.randn(5).to(torch.bfloat16)):
            back = values.decode(values.encode(tensor))
            self.assertEqual((back.dtype, back.shape), (tensor.dtype, tensor.shape))
            self.assertTrue(torch.equal(back, tensor))

    def test_what_is_no_data_is_named(self):
        for value in (torch.nn.ReLU(), print, object(), 1 << 80):
            with self.assertRaises(values.NotPlain):
                values.encode(value)

    def test_constants_are_numbers_and_modules_of_the_problems_file(self):
        module = types.ModuleType("problem")
        module.rows, module.pair, module.nn, module.os = 3, (1, 2), torch.nn, os
        module.Model, module.get_inputs = torch.nn.ReLU, print
        found = values.constants_of(module)
        self.assertEqual(set(found), {"rows", "pair", "nn"})
        self.assertIs(values.decode(found["nn"]), torch.nn)


class Weights(unittest.TestCase):
    def published(self, *names):
        return [entry(name, (2, 2), role="parameter") | {"role": "parameter"} for name in names]

    def loaded(self, model, tensors):
        found = weights.Weights(model, tensors)
        slot = types.SimpleNamespace(by_name={
            item["name"]: torch.full(item["shape"], float(index + 1)) for index, item in enumerate(tensors)})
        found.load(slot)
        return found.how

    def test_by_name_then_by_order_then_not_at_all(self):
        model = torch.nn.Module()
        model.a, model.b = torch.nn.Parameter(torch.zeros(2, 2)), torch.nn.Parameter(torch.zeros(2, 2))
        self.assertEqual(self.loaded(model, self.published("b", "a")), "name")
        self.assertEqual((model.b[0, 0].item(), model.a[0, 0].item()), (1, 2))
        self.assertEqual(self.loaded(model, self.published("x", "y")), "order")
        self.assertEqual((model.a[0, 0].item(), model.b[0, 0].item()), (1, 2))
        self.assertEqual(self.loaded(model, self.published("x")), "seed")
        self.assertEqual(self.loaded(model, []), "none")

    def test_attributes_and_buffers_by_name(self):
        model = torch.nn.Module()
        model.register_buffer("mean", torch.zeros(2, 2))
        model.hidden = torch.zeros(2, 2)
        tensors = [entry("mean", (2, 2)) | {"role": "buffer"}, entry("attr:hidden", (2, 2)) | {"role": "attribute"}]
        self.loaded(model, tensors)
        self.assertEqual((model.mean[0, 0].item(), model.hidden[0, 0].item()), (1, 2))


class Candidates(unittest.TestCase):
    def fault(self, source):
        with tempfile.TemporaryDirectory() as folder, self.assertRaises(faults.Fault) as caught:
            model, path = candidate.load(folder, source, {})
            candidate.build(model, path, ([3], {}), "cpu", False)
        self.assertNotIn(folder, caught.exception.message)
        return caught.exception.kind, caught.exception.message

    def test_what_is_wrong_has_its_kind_and_line(self):
        self.assertEqual(self.fault("x = 1\nx x\n")[0], "source")
        self.assertIn("line 2: SyntaxError", self.fault("x = 1\nx x\n")[1])
        self.assertIn("line 1: ZeroDivisionError", self.fault("1 / 0\n")[1])
        self.assertIn("SystemExit", self.fault("raise SystemExit(0)\n")[1])
        self.assertEqual(self.fault("")[0], "no_model")
        self.assertEqual(self.fault("ModelNew = 3\n")[0], "no_model")
        broken = "import torch\nclass ModelNew(torch.nn.Module):\n  def __init__(self, n):\n    raise ValueError(n)\n"
        self.assertEqual(self.fault(broken), ("constructor", "ModelNew(*get_init_inputs()), line 4: ValueError: 3"))

    def test_memory_is_told_apart(self):
        fault = faults.fault_of(RuntimeError("CUDA out of memory. Tried to allocate"), "forward", "forward()", "")
        self.assertEqual(fault.kind, "memory")

    def test_the_problems_names_are_there_and_the_seed_is_the_problems(self):
        source = ("class ModelNew(nn.Module):\n  def __init__(self, n):\n    super().__init__()\n"
                  "    self.layer = nn.Linear(n, rows)\n")
        with tempfile.TemporaryDirectory() as folder:
            model, path = candidate.load(folder, source, {"nn": {"module": "torch.nn"}, "rows": 5})
            built = candidate.build(model, path, ([3], {}), "cpu", True)
        torch.manual_seed(candidate.CONSTRUCTION_SEED)
        self.assertTrue(torch.equal(built.layer.weight, torch.nn.Linear(3, 5).weight))
        self.assertFalse(built.training)


class SharedTensors(unittest.TestCase):
    def test_a_slot_is_views_of_the_files(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "x.buffer")
            with open(path, "wb") as file:
                file.write(bytes(64) + torch.arange(6, dtype=torch.float32).numpy().tobytes() + bytes(64))
            place = {"path": path, "payload_offset": 64, "payload_bytes": 24}
            tensors = [entry("x") | {"role": "input", "buffer": 0}, entry("output") | {"buffer": 1}]
            slot = shared_tensors.Slot(shared_tensors.Opener("cpu"), tensors, [place, place])
            slot.bind([{"type": "list", "entries": [{"name": "x"}, {"value": {"float": (0.5).hex()}}]},
                       {"type": "dict", "entries": [["k", {"value": 3}]]}])
            self.assertEqual(slot.arguments[1], {"k": 3})
            self.assertEqual(slot.arguments[0][1], 0.5)
            slot.outputs[0].mul_(2)
            self.assertEqual(slot.arguments[0][0].tolist(), [[0, 2, 4], [6, 8, 10]])


if __name__ == "__main__":
    unittest.main()
