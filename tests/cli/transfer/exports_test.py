"""Exported files without a GPU: launches are recorded by a stand-in (stand_in.py) and compared, argument by argument,
with the worker's own expansion of the plan. No kernel runs here; tests/gpu/exports/run.py runs them on a GPU.
"""
import base64
import ctypes
import glob
import importlib.util
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

import torch

import stand_in

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
TOOL = os.environ["WARPSMITH_EXPORT_TOOL"]
sys.path.insert(0, os.path.join(SOURCE, "tests", "gpu", "corpus"))

import signatures  # noqa: E402

# Small problems with every honest candidate; large ones for what only a GPU has: their shapes are enough.
SMALL = [("honest/" + name, problem) for name, problem in (
    ("relu_plain.cu", "relu"), ("relu_crlf.cu", "relu"), ("relu_byte_order_mark.cu", "relu"),
    ("relu_template.cu", "relu"), ("relu_repeat_views.cu", "relu"), ("relu_copy_in_place.cu", "relu"),
    ("relu_three_dimensions.cu", "relu"), ("relu_tuned.cu", "relu"), ("relu_options.cu", "relu"),
    ("softmax_dynamic_shared.cu", "softmax_odd"), ("softmax_three_launches.cu", "softmax_odd"),
    ("matmul_plain.cu", "matmul_odd"), ("layer_norm_two_pass.cu", "layer_norm_mean1000"),
    ("batch_norm_ignored_statistics.cu", "batch_norm"), ("two_outputs.cu", "two_outputs"),
    ("sum_last_block_ticket.cu", "sum_dimension_last"))]
LARGE = ["relu_tma_tiles.cu", "softmax_cluster.cu", "layer_norm_cooperative.cu", "matmul_fp16_wgmma.cu",
         "conv_library_bias.cu", "bmm_library.cu", "relu_repeat_views.cu", "sum_memset_atomics.cu"]

FORMS = {
    # Expressions, every literal, nested repeats with names of Python's words, memsets, prepare.
    "every_form.cu": ('''/* warpsmith-plan
{"version": 1,
 "scratch": [{"name": "count", "dtype": "int32", "shape": [6]}, {"name": "half", "dtype": "float16", "shape": []},
             {"name": "packed", "dtype": "float32", "shape": [24], "persistent": true}],
 "prepare": [{"kernel": "pack", "grid": [1], "block": [32], "args": ["weight", "packed"]}],
 "steps": [
  {"memset": "count", "value": 4294967295, "width": 4}, {"memset": "half", "value": 513, "width": 2},
  {"repeat": "min(3, sm_count)", "index": "in", "steps": [
    {"repeat": 2, "index": "for", "steps": [
      {"kernel": "all<2, true>", "grid": ["(sm_count + 4) / 4", "1 + for % 2"], "block": ["16 * TILE"],
       "shared_bytes": "1024 * (for + 1)", "cooperative": true,
       "args": [{"tensor": "x", "offset": "in * 4 + for + (0 - 3) / 2 + 1"}, "packed", "half", {"i32": "-TILE"}]}]},
    {"kernel": "all<2, true>", "grid": [1], "block": [8],
     "args": [{"tensor": "x", "offset": "in"}, "packed", "half", {"i32": "(0 - 7) % 4"}]}]},
  {"kernel": "literals", "grid": [1], "block": [1], "args": [{"bool": 1}, {"i8": -128}, {"u8": 255}, {"i32": -5},
   {"u32": 4294967295}, {"i64": -9223372036854775807}, {"u64": 18446744073709551615}, {"f16": 0.1}, {"bf16": 0.1},
   {"f32": 0.1}, {"f64": 0.1}, {"f16": 65504}, {"f32": 1e-42}, {"bf16": -3e38}]},
  {"copy": "x", "to": "output"}],
 "tune": {"TILE": [2, 4]}} */
template <int N, bool B> __global__ void all(const float* x, const float* packed, void* half, int n) {}
__global__ void pack(const float* w, float* packed) {}
__global__ void literals(bool a, signed char b, unsigned char c, int d, unsigned e, long long f, unsigned long long g,
                         unsigned short h, unsigned short i, float j, double k, unsigned short l, float m,
                         unsigned short n) {}
''', {"TILE": 4}),
}
FORMS_MODULE = '''
import torch


class Model(torch.nn.Module):
    def __init__(self, size):
        super(Model, self).__init__()
        self.weight = torch.nn.Parameter(torch.randn(4, 6))
        self.layers = torch.nn.ModuleList([torch.nn.Linear(size, 2), torch.nn.Linear(2, size)])

    def forward(self, x):
        """A text with \'\'\' in it, and a backslash: \\\\."""
        return x * 1.0


def get_inputs():
    return [torch.rand(4, 6)]


def get_init_inputs():
    return [3]
'''

GEMM_MODULE = '''
import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.randn(5, 7))

    def forward(self, x):
        return x @ self.weight.T


def get_inputs():
    return [torch.randn(3, 7)]


def get_init_inputs():
    return []
'''
GEMM = '''/* warpsmith-plan
{"version": 1, "steps": [{"library": "gemm", "compute": "fp32", "m": 5, "n": 3, "k": 7, "transa": "T", "A": "weight",
  "lda": 7, "B": "x", "ldb": 7, "C": "output", "ldc": 5}]} */
'''
BATCHED_MODULE = GEMM_MODULE.replace("randn(5, 7)", "randn(2, 7, 5)").replace("randn(3, 7)", "randn(2, 3, 7)").replace(
    "x @ self.weight.T", "0.5 * torch.bmm(x, self.weight)")
BATCHED = '''/* warpsmith-plan
{"version": 1, "steps": [{"library": "gemm_strided_batched", "compute": "tf32", "m": 5, "n": 3, "k": 7, "batchCount": 2,
  "alpha": 0.5, "A": "weight", "lda": 5, "strideA": 35, "B": "x", "ldb": 7, "strideB": 21, "C": "output", "ldc": 5,
  "strideC": 15}]} */
'''
CONV_MODULE = '''
import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = torch.nn.Conv2d(4, 6, 3, stride=2, padding=1, groups=2, bias=False)

    def forward(self, x):
        return self.conv(x)


def get_inputs():
    return [torch.randn(2, 4, 9, 8)]


def get_init_inputs():
    return []
'''
CONV = '''/* warpsmith-plan
{"version": 1, "steps": [{"library": "conv_forward", "compute": "fp32", "x": "x", "w": "conv.weight", "y": "output",
  "dimA": [2, 4, 9, 8], "filterDimA": [6, 2, 3, 3], "padA": [1, 1], "filterStrideA": [2, 2], "groupCount": 2}]} */
'''
LIBRARY = {"gemm": (GEMM_MODULE, GEMM), "batched": (BATCHED_MODULE, BATCHED), "conv": (CONV_MODULE, CONV)}


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def write(path, text):
    with open(path, "w", encoding="utf-8", newline="") as file:
        file.write(text)
    return path


def load(path, name):
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def shapes_only(model, inputs):
    """The output of large modules, on PyTorch's device without memory."""
    with torch.no_grad():
        return model.to("meta")(*[value.to("meta") for value in inputs]), None


class MadeUpDriver:
    """libcuda as an exported file calls it, where there is none."""

    def __init__(self):
        self.symbols, self.shared, self.launched = [], [], None

    def cuDriverGetVersion(self, version):
        version._obj.value = 13000
        return 0

    def cuModuleLoadData(self, module, image):
        self.cubin = image.raw[:4]
        return 0

    def cuModuleGetFunction(self, function, module, symbol):
        self.symbols.append(symbol.value)
        return 0

    def cuFuncGetAttribute(self, value, attribute, function):
        value._obj.value = 0
        return 0

    def cuFuncSetAttribute(self, function, attribute, value):
        self.shared.append(value)
        return 0

    def cuLaunchKernel(self, *arguments):
        self.launched = arguments
        return 0

    cuLaunchKernelEx = cuLaunchKernel


class Exports(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="ws-exports-")
        entries, cls.problems = [], {}
        run = signatures.run
        for file, problem in SMALL:
            cls.add(entries, file.split("/")[1][:-3], os.path.join(SOURCE, "tests/corpus", file),
                    os.path.join(SOURCE, "tests/problems", problem + ".py"))
        signatures.run = shapes_only
        manifest = json.loads(read(os.path.join(SOURCE, "tests/corpus/gpu/manifest.json")))
        problems = {entry["file"]: entry["problem"] for entry in manifest}
        for name in LARGE:
            cls.add(entries, "gpu_" + name[:-3], os.path.join(SOURCE, "tests/corpus/gpu/honest", name),
                    os.path.join(SOURCE, "tests/problems", problems["honest/" + name] + ".py"))
        signatures.run = run
        for name, (source, tune) in FORMS.items():
            cls.add(entries, name[:-3], write(os.path.join(cls.folder.name, name), source),
                    write(os.path.join(cls.folder.name, "forms.py"), FORMS_MODULE), tune)
        for name, (module, source) in LIBRARY.items():
            cls.add(entries, name, write(os.path.join(cls.folder.name, name + "_in.cu"), source),
                    write(os.path.join(cls.folder.name, name + ".py"), module))
        done = subprocess.run([TOOL, cls.folder.name], input=json.dumps(entries), text=True, capture_output=True)
        assert done.returncode == 0, done.stderr
        cls.names = [entry["name"] for entry in entries]

    @classmethod
    def add(cls, entries, name, candidate, problem, tune=None):
        entries.append({"name": name, "candidate": candidate, "reference": read(problem),
                        "signature": signatures.signature(problem)})
        if tune:
            entries[-1]["tune"] = tune
        cls.problems[name] = problem

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def model_of(self, name):
        """The exported module, its ModelNew with made-up arguments, and what it was called with."""
        module = load(self.path(name + "_model.py"), name + "_model")
        module._WarpsmithCuda = stand_in.StandIn
        problem = load(self.problems[name], name + "_problem")
        model = module.ModelNew(*problem.get_init_inputs())
        arguments = [torch.empty_strided(shape, strides, dtype=getattr(torch, dtype)) for dtype, shape, strides in
                     module._WarpsmithPlan.inputs.values()]
        if not name.startswith("gpu_"):
            arguments = problem.get_inputs()
        return module, model, arguments

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

    def test_weights_packed_once_are_packed_anew_when_they_change(self):
        module, model, arguments = self.model_of("every_form")
        model(*arguments)
        log = next(iter(module._WarpsmithDevice.made.values())).cuda.log

        def packed():
            launches = sum(entry[:2] == ("kernel", "pack") for entry in log)
            log.clear()
            return launches

        self.assertEqual(1, packed())
        model(*arguments)
        self.assertEqual(0, packed())
        with torch.no_grad():
            model.weight.add_(1)
        model(*arguments)
        self.assertEqual(1, packed())
        model.weight = torch.nn.Parameter(torch.zeros(4, 6))
        model(*arguments)
        self.assertEqual(1, packed())

    def test_the_same_seed_gives_the_same_weights(self):
        for name in ("layer_norm_two_pass", "batch_norm_ignored_statistics", "every_form", "conv"):
            with self.subTest(name):
                problem = load(self.problems[name], name + "_problem")
                module = load(self.path(name + "_model.py"), name + "_model")
                torch.manual_seed(42)
                wanted = problem.Model(*problem.get_init_inputs()).state_dict()
                torch.manual_seed(42)
                got = module.ModelNew(*problem.get_init_inputs()).state_dict()
                self.assertEqual(list(wanted), list(got))
                for key, value in wanted.items():
                    self.assertTrue(torch.equal(value, got[key]), key)

    def test_library_steps_compute_what_the_module_does(self):
        for name in LIBRARY:
            with self.subTest(name):
                module, model, arguments = self.model_of(name)
                with torch.no_grad():
                    wanted = load(self.problems[name], "p").Model.forward(model, *arguments)
                    got = model(*arguments)
                torch.testing.assert_close(got, wanted)

    def test_it_can_stand_in_the_reference_s_own_globals(self):
        # KernelBench runs a candidate's text in the globals in which the problem's file ran.
        for name in ("layer_norm_two_pass", "every_form"):
            context = {}
            exec(read(self.problems[name]), context)
            before = dict(context)
            exec(read(self.path(name + "_model.py")), context)
            changed = [key for key, value in before.items() if context[key] is not value]
            self.assertEqual([], changed)
            context["_WarpsmithCuda"] = stand_in.StandIn
            context["ModelNew"](*context["get_init_inputs"]())(*context["get_inputs"]())

    def test_it_passes_the_words_that_a_static_checker_looks_for(self):
        text = read(self.path("softmax_three_launches_model.py"))
        self.assertIsNone(re.search(r"\btry\s*:|\bexcept\b|\bpass\b|\bthreading", re.sub(r"#.*|//.*", "", text)))
        for word in ("__global__", "cpp_extension", "threadIdx."):
            self.assertIn(word, text)

    def test_kernels_compile_by_nvrtc_and_launch_through_the_driver(self):
        # The driver alone is made up: NVRTC, its headers and names are real.
        if not glob.glob("/usr/local/cuda/lib64/libnvrtc.so*"):
            self.skipTest("no NVRTC on this machine")
        for name, kernel in (("softmax_three_launches", None), ("every_form", "all<2, true>"),
                             ("gpu_matmul_fp16_wgmma", None)):
            with self.subTest(name):
                module = load(self.path(name + "_model.py"), name + "_model")
                cuda = object.__new__(module._WarpsmithCuda)
                cuda.capability, cuda._driver = 90, MadeUpDriver()
                cuda._functions = cuda._load()
                self.assertEqual(set(module._WarpsmithPlan.kernels), set(cuda._functions))
                self.assertEqual(b"\x7fELF", cuda._driver.cubin)
                if kernel is None:
                    continue
                self.assertIn(b"_Z3allILi2ELb1EEvPKfS1_Pvi", cuda._driver.symbols)
                cuda.launcher(kernel, (3, 1, 1), (64, 2, 1), 40960, False, ())("stream", "parameters", None)
                self.assertEqual([40960], cuda._driver.shared)
                function, *sizes, stream, parameters, extra = cuda._driver.launched
                self.assertEqual([3, 1, 1, 64, 2, 1, 40960], [size.value for size in sizes])
                self.assertEqual(("stream", "parameters", None), (stream, parameters, extra))
                cuda.launcher(kernel, (8, 1, 1), (32, 1, 1), 0, True, (4, 1, 1))(ctypes.c_void_p(77), "p", None)
                config = cuda._driver.launched[0]._obj
                self.assertEqual((8, 32, 77, 2), (config.grid_x, config.block_x, config.stream, config.attribute_count))
                # As cuda.h lays them out.
                self.assertEqual((56, 72), (ctypes.sizeof(config), ctypes.sizeof(module._WarpsmithAttribute)))
                attributes = ctypes.cast(config.attributes, ctypes.POINTER(module._WarpsmithAttribute))
                self.assertEqual((2, 1), (attributes[0].id, attributes[0].value[0]))
                self.assertEqual((4, [4, 1, 1]), (attributes[1].id, list(attributes[1].value[:3])))

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

    def test_operators_have_shapes_without_a_gpu(self):
        for name in ("layer_norm_two_pass", "two_outputs", "batch_norm_ignored_statistics"):
            with self.subTest(name):
                module = load(self.path(name + "_operator.py"), name + "_operator")
                problem = load(self.problems[name], name + "_problem")
                model = module.Module(*problem.get_init_inputs()).to("meta")
                arguments = [argument.to("meta") for argument in problem.get_inputs()]
                # PyTorch 1 has no fallback for gradients of tensors without memory.
                guard = torch._C._AutoDispatchBelowAutograd() if torch.__version__.startswith("1.") else None
                got = model(*arguments)
                del guard
                with torch.no_grad():
                    wanted = problem.Model(*problem.get_init_inputs())(*problem.get_inputs())
                pairs = zip([got], [wanted]) if isinstance(wanted, torch.Tensor) else zip(got, wanted)
                for left, right in pairs:
                    self.assertEqual((left.shape, left.dtype, left.device.type), (right.shape, right.dtype, "meta"))

    def test_plain_sources_compile_by_nvcc_alone(self):
        nvcc = "/usr/local/cuda/bin/nvcc"
        self.assertIn("library step conv_forward", read(self.path("conv.cu.error")))
        if not os.path.exists(nvcc):
            self.skipTest("no nvcc on this machine")
        for name, architectures in (("every_form", ("sm_89", "sm_90")), ("gpu_relu_tma_tiles", ("sm_90",))):
            with self.subTest(name):
                command = [nvcc, "-std=c++17", "-O1", "-o", self.path(name + ".out"), self.path(name + ".cu")]
                for architecture in architectures:
                    command += ["-gencode", f"arch={architecture.replace('sm', 'compute')},code={architecture}"]
                done = subprocess.run(command, capture_output=True, text=True)
                self.assertEqual(0, done.returncode, done.stderr[:3000])


if __name__ == "__main__":
    unittest.main(verbosity=2)
