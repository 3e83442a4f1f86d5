"""Exported files by NVRTC, by nvcc, and as KernelBench and PyTorch take them in."""
import ctypes
import glob
import os
import re
import subprocess

import torch

import stand_in
from exports_fixture import ExportsCase, load, read


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


class Compiling(ExportsCase):
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
