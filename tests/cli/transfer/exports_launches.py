"""What exported modules launch, argument by argument against the worker's own expansion of the plan."""
import base64
import ctypes
import json

import torch

from exports_cases import LIBRARY
from exports_fixture import ExportsCase, load, read


class Launches(ExportsCase):
    def compare(self, run, steps, log, buffers, symbols):
        addresses = run._addresses
        names = {address: name for name, address in addresses.items()}
        self.assertEqual(len(steps), len(log))

        def place(view):
            return addresses[buffers[view["buffer"]]["name"]] + int(view["offset_bytes"])

        for step, done in zip(steps, log):
            if "kernel" in step:
                launch = step["kernel"]
                kind, name, grid, block, shared, cooperative, cluster, parameters = done
                self.assertEqual(("kernel", symbols[launch["kernel"]]), (kind, name))
                self.assertEqual(tuple(launch["grid_" + side] for side in "xyz"), grid)
                self.assertEqual(tuple(launch["block_" + side] for side in "xyz"), block)
                self.assertEqual((launch["dynamic_shared_bytes"], launch["cooperative"]), (shared, cooperative))
                wanted = tuple(launch.get("cluster", []))
                self.assertEqual(wanted + (1,) * (3 - len(wanted)) if wanted else (), cluster)
                arguments = launch.get("arguments", [])
                self.assertEqual(max(len(arguments), 1), len(parameters))
                for argument, address in zip(arguments, parameters):
                    if "view" in argument:
                        got = ctypes.c_uint64.from_address(address).value
                        self.assertEqual(place(argument["view"]), got, f"{name}: {names.get(got)}")
                    elif "literal" in argument:
                        wanted = base64.b64decode(argument["literal"])
                        self.assertEqual(wanted, ctypes.string_at(address, len(wanted)), name)
                    else:
                        wanted = argument["tensor_map"]
                        got = run.cuda.maps[address]
                        self.assertEqual((place(wanted["view"]), wanted["dtype"]), got[:2])
                        self.assertEqual([int(size) for size in wanted["shape"]], got[2])
                        self.assertEqual([int(size) for size in wanted.get("stride_bytes", [])], got[3])
                        self.assertEqual((wanted["box"], wanted["swizzle"]), got[4:])
                        self.assertEqual(0, address % 64)
            elif "memset" in step:
                wanted = step["memset"]
                self.assertEqual(("memset", place(wanted["view"]), wanted["value"], wanted["width"],
                                  int(wanted["count"])), done)
            else:
                wanted = step["copy"]
                self.assertEqual(("copy", place(wanted["target"]), place(wanted["source"]), int(wanted["bytes"])), done)

    def test_launches_are_those_of_the_worker(self):
        for name in self.names:
            if name in LIBRARY:
                continue
            with self.subTest(name):
                plan = json.loads(read(self.path(name + ".plan.json")))
                module, model, arguments = self.model_of(name)
                for turn in range(2):  # with other addresses the second time
                    arguments = [argument.clone() if argument.is_contiguous() and turn else argument
                                 for argument in arguments]
                    if any("library" in step for step in plan["steps"]):
                        break  # large ones are too slow here; LIBRARY's small ones run
                    for made in module._WarpsmithDevice.made.values():
                        made.cuda.log.clear()
                    outputs = model(*arguments)
                    made = next(iter(module._WarpsmithDevice.made.values()))
                    log = list(made.cuda.log)
                    prepared = plan.get("prepare_steps", []) if turn == 0 else []
                    self.compare(made.prepare, prepared, log[:len(prepared)], plan["buffers"], plan["kernel_symbols"])
                    self.compare(made.steps, plan["steps"], log[len(prepared):], plan["buffers"],
                                 plan["kernel_symbols"])
                    outputs = [outputs] if isinstance(outputs, torch.Tensor) else list(outputs)
                    wanted = [buffer for buffer in plan["buffers"] if buffer["kind"] == "BUFFER_KIND_OUTPUT"]
                    self.assertEqual([(b["dtype"], int(b["bytes"])) for b in wanted],
                                     [(str(o.dtype)[6:], o.numel() * o.element_size()) for o in outputs])

    def test_library_steps_compute_what_the_module_does(self):
        for name in LIBRARY:
            with self.subTest(name):
                module, model, arguments = self.model_of(name)
                with torch.no_grad():
                    wanted = load(self.problems[name], "p").Model.forward(model, *arguments)
                    got = model(*arguments)
                torch.testing.assert_close(got, wanted)

    def test_wrong_arguments_are_told(self):
        _, model, _ = self.model_of("relu_plain")
        with self.assertRaisesRegex(ValueError, "x has the shape"):
            model(torch.zeros(3, 3))
        with self.assertRaisesRegex(TypeError, "missing"):
            model()
        module, model, (x,) = self.model_of("matmul_plain")[0], *self.model_of("relu_plain")[1:]
        with self.assertRaisesRegex(ValueError, "int32"):
            model(x.to(torch.int32))
        del module
