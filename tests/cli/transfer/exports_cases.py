"""What exports_test.py exports: candidates with their problems, and problems made for one form or another."""

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
