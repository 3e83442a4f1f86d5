"""What a module computes: operators by name, a guess at their family, floating-point operations, and working memory.

Names come from torch.fx where it traces. Operations are counted on the operators that PyTorch dispatches while the
module runs, two for a multiply and add, and one for each element and pass of everything else; an operator that is not
in the tables makes the count unknown (0), except where it moves data only.
"""

import collections
import copy

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from warpsmith_oracle.precision import map_tensors

Count = collections.namedtuple("Count", "flops names peak_bytes")

_MATMULS = frozenset(("mm", "addmm", "bmm", "baddbmm", "mv", "addmv", "dot", "addbmm"))
_CONVOLUTIONS = frozenset(("convolution", "_convolution", "mkldnn_convolution", "cudnn_convolution"))
_ATTENTION = frozenset(("_scaled_dot_product_flash_attention_for_cpu", "_scaled_dot_product_flash_attention",
                        "_scaled_dot_product_efficient_attention", "_scaled_dot_product_cudnn_attention",
                        "_scaled_dot_product_fused_attention_overrideable", "_scaled_dot_product_attention_math"))
_RECURRENT = frozenset(("_cudnn_rnn", "mkldnn_rnn_layer"))
# What PyTorch runs for whole layers of a transformer in eval mode.
_FUSED_LAYERS = frozenset(("_transformer_encoder_layer_fwd", "_native_multi_head_attention"))
_NORMS = {"native_layer_norm": "layer_norm", "native_group_norm": "group_norm", "native_batch_norm": "batch_norm",
          "_native_batch_norm_legit": "batch_norm", "_native_batch_norm_legit_no_training": "batch_norm",
          "cudnn_batch_norm": "batch_norm", "_batch_norm_with_update": "batch_norm", "_fused_rms_norm": "rms_norm"}
_POOLS = frozenset(("max_pool2d_with_indices", "max_pool3d_with_indices", "max_pool1d", "avg_pool2d", "avg_pool3d",
                    "avg_pool1d", "_adaptive_avg_pool2d", "_adaptive_avg_pool3d", "adaptive_max_pool2d",
                    "adaptive_max_pool3d", "max_pool2d", "max_pool3d"))
_LOSSES = frozenset(("nll_loss_forward", "nll_loss2d_forward", "mse_loss", "smooth_l1_loss", "huber_loss", "kl_div",
                     "binary_cross_entropy", "binary_cross_entropy_with_logits", "soft_margin_loss"))
_REDUCTIONS = frozenset(("sum", "mean", "amax", "amin", "max", "min", "argmax", "argmin", "prod", "logsumexp", "norm",
                         "linalg_vector_norm", "var", "std", "var_mean", "std_mean", "any", "all", "nansum", "aminmax",
                         "count_nonzero", "median", "topk", "sort", "argsort", "kthvalue"))
_SCANS = frozenset(("cumsum", "cumprod", "cummax", "cummin", "logcumsumexp"))
_ACTIVATIONS = frozenset((
    "relu", "gelu", "sigmoid", "tanh", "elu", "celu", "selu", "leaky_relu", "softplus", "hardtanh", "hardsigmoid",
    "hardswish", "silu", "mish", "prelu", "_prelu_kernel", "threshold", "log_sigmoid_forward", "hardshrink",
    "softshrink", "rrelu_with_noise", "relu6", "glu"))
_POINTWISE = _ACTIVATIONS | frozenset((
    "add", "sub", "mul", "div", "rsub", "pow", "sqrt", "rsqrt", "exp", "exp2", "expm1", "log", "log2", "log10",
    "log1p", "abs", "neg", "sign", "sgn", "sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh",
    "asinh", "acosh", "atanh", "erf", "erfc", "reciprocal", "square", "clamp", "clamp_min", "clamp_max", "maximum",
    "minimum", "fmax", "fmin", "floor", "ceil", "round", "trunc", "frac", "fmod", "remainder", "lerp", "addcmul",
    "addcdiv", "where", "masked_fill", "eq", "ne", "lt", "le", "gt", "ge", "logical_and", "logical_or",
    "logical_not", "logical_xor", "bitwise_and", "bitwise_or", "bitwise_not", "bitwise_xor", "isnan", "isinf",
    "isfinite", "tril", "triu", "xlogy", "sigmoid", "native_dropout", "bernoulli", "dropout", "floor_divide",
    "copysign", "hypot", "logaddexp", "_thnn_fused_lstm_cell", "_thnn_fused_gru_cell"))
_MOVES = frozenset((
    "view", "_unsafe_view", "reshape", "_reshape_alias", "permute", "transpose", "t", "expand", "unsqueeze",
    "squeeze", "select", "slice", "split", "split_with_sizes", "unsafe_split", "unsafe_chunk", "chunk", "unbind",
    "as_strided", "alias", "detach", "clone", "copy", "contiguous", "cat", "stack", "empty", "empty_like",
    "empty_strided", "new_empty", "new_zeros", "new_ones", "new_full", "new_empty_strided", "zeros", "zeros_like",
    "ones", "ones_like", "full", "full_like", "fill", "zero", "arange", "linspace", "eye", "lift_fresh", "_to_copy",
    "to", "index_select", "gather", "index", "scatter", "index_put", "_index_put_impl", "constant_pad_nd",
    "reflection_pad1d", "reflection_pad2d", "replication_pad2d", "roll", "flip", "repeat", "embedding", "one_hot",
    "pixel_shuffle", "unfold", "diagonal", "diag", "diag_embed", "movedim", "view_as", "resize", "set", "rand",
    "_local_scalar_dense", "randn", "uniform", "normal", "randint", "scalar_tensor", "im2col", "col2im", "narrow",
    "repeat_interleave", "nonzero", "masked_select", "upsample_nearest2d", "tril_indices", "triu_indices", "item",
    "rand_like", "randn_like", "clone_", "expand_as", "broadcast_tensors", "lift", "_assert_async", "view_dtype",
    "resolve_conj", "_conj", "_cudnn_rnn_flatten_weight", "_use_cudnn_rnn_flatten_weight"))


def _elements(value):
    sizes = []
    map_tensors(value, lambda tensor: sizes.append(tensor.numel()))
    return sum(sizes)


def _product(values):
    result = 1
    for value in values if isinstance(values, (list, tuple)) else (values,):
        result *= int(value)
    return result


def _fused_layer_flops(name, args):
    """Of (source, width, heads, ...): projections, attention of every position to every other, and for a whole layer
    the two linear layers behind it. The matrices are found by their width."""
    source, width = (args[0], args[1]) if name == "_transformer_encoder_layer_fwd" else (args[0], args[3])
    positions, length = source.numel() / width, source.shape[-2]
    weights = sum(value.numel() for value in args[3:] if isinstance(value, torch.Tensor) and value.dim() == 2 and
                  width in value.shape)
    return positions * (2.0 * weights + 4.0 * length * width)


def _flops(name, args, result):
    """Operations of one dispatched operator; None where unknown."""
    if name in _MOVES:
        return 0.0
    out = result[0] if isinstance(result, (list, tuple)) and result else result
    size = float(out.numel()) if isinstance(out, torch.Tensor) else 0.0
    if name in ("mm", "bmm", "mv", "dot"):
        return 2.0 * size * args[0].shape[-1]
    if name in ("addmm", "baddbmm", "addmv", "addbmm"):
        batches = args[1].shape[0] if name == "addbmm" else 1
        return size * (2.0 * args[1].shape[-1] * batches + 1)
    if name in _CONVOLUTIONS:
        source, weight = args[0], args[1]
        transposed = len(args) > 6 and bool(args[6])
        each = weight.numel() // max(weight.shape[0], 1)
        bias = size if len(args) > 2 and args[2] is not None else 0.0
        return 2.0 * (source.numel() if transposed else size) * each + bias
    if name in _ATTENTION:
        query, key, value = args[0], args[1], args[2]
        pairs = float(query.numel() // query.shape[-1]) * key.shape[-2]
        return pairs * (2.0 * query.shape[-1] + 2.0 * value.shape[-1] + 5)
    if name == "mkldnn_rnn_layer":
        steps = args[0].shape[0] * args[0].shape[1]
        return 2.0 * steps * (args[1].numel() + args[2].numel())
    if name == "_cudnn_rnn":
        steps = args[0].shape[0] * args[0].shape[1]
        return 2.0 * steps * sum(weight.numel() for weight in args[1] if weight.dim() == 2)
    if name in _FUSED_LAYERS:
        return _fused_layer_flops(name, args)
    if name in _NORMS:
        return 8.0 * args[0].numel()
    if name in ("_softmax", "_log_softmax", "_safe_softmax"):
        return 5.0 * args[0].numel()
    if name in _POOLS:
        if "adaptive" in name:
            return float(args[0].numel())
        window = args[1] if isinstance(args[1], (list, tuple)) else (args[1],)
        dimensions = next(count for count in (1, 2, 3) if f"{count}d" in name)
        return size * _product(window) ** (dimensions if len(window) == 1 else 1)
    if name in _LOSSES:
        return 3.0 * args[0].numel()
    if name in _REDUCTIONS or name in _SCANS:
        passes = 4.0 if name.startswith(("var", "std")) else 3.0 if name == "logsumexp" else 1.0
        return passes * _elements(args[0])
    if name in _POINTWISE:
        return size
    return None


class _Counter(TorchDispatchMode):
    def __init__(self):
        super().__init__()
        self.flops = 0.0
        self.known = True
        self.calls = []  # (name, number of spatial dimensions of a convolution, transposed)
        self.peak_bytes = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        name = func.overloadpacket.__name__ if hasattr(func, "overloadpacket") else func.__name__
        name = name[:-1] if name.endswith("_") and not name.startswith("__") else name
        try:
            flops = _flops(name, args, result)
        except (AttributeError, IndexError, TypeError):
            flops = None
        self.known &= flops is not None
        self.flops += flops or 0.0
        sizes = []
        map_tensors(result, lambda tensor: sizes.append(tensor.numel() * tensor.element_size()))
        if name not in _MOVES:
            self.peak_bytes = max(self.peak_bytes, sum(sizes))
            convolution = name in _CONVOLUTIONS
            self.calls.append((name, args[0].dim() - 2 if convolution else 0,
                               convolution and len(args) > 6 and bool(args[6])))
        return result


def count(run):
    """Watches run() and returns (its result, Count)."""
    counter = _Counter()
    with torch.no_grad(), counter:
        result = run()
    return result, Count(counter.flops if counter.known else 0.0, counter.calls, counter.peak_bytes)


def traced_names(model):
    """torch.fx's call targets in order: functions and methods by name, modules by class; empty where it does not
    trace."""
    try:
        traced = torch.fx.symbolic_trace(copy.deepcopy(model))
    except Exception:  # whatever a module's own code raises on a proxy: it does not trace
        return []
    names = []
    for node in traced.graph.nodes:
        if node.op == "call_function":
            names.append(getattr(node.target, "__name__", str(node.target)))
        elif node.op == "call_method":
            names.append(str(node.target))
        elif node.op == "call_module":
            names.append(type(traced.get_submodule(node.target)).__name__)
    return [name for name in names if name not in ("getattr", "getitem")]


def family(calls, traced):
    """A name for what the module is about: its weightiest operator."""
    names = [name for name, _, _ in calls]
    heavy = [call for call in calls if call[0] in _MATMULS or call[0] in _CONVOLUTIONS or call[0] in _ATTENTION]
    softmax = [index for index, name in enumerate(names) if name in ("_softmax", "_safe_softmax")]
    if len(heavy) > 4 or any(name in _RECURRENT or name == "_transformer_encoder_layer_fwd" for name in names):
        return "network"
    if any(name in _ATTENTION or name == "_native_multi_head_attention" for name in names):
        return "attention"
    if softmax and any(name in _MATMULS for name in names[:softmax[0]]) and (
            any(name in ("bmm", "mm") for name in names[softmax[-1]:])):
        return "attention"
    convolutions = [call for call in heavy if call[0] in _CONVOLUTIONS]
    if convolutions:
        _, dimensions, transposed = convolutions[0]
        return f"conv_transpose{dimensions}d" if transposed else f"conv{dimensions}d"
    if heavy:
        return "matmul"
    found = next((_NORMS[name] for name in names if name in _NORMS), None)
    if found:
        instance = found == "batch_norm" and any("nstance" in name for name in traced)
        return "instance_norm" if instance else found
    if any(name in _LOSSES for name in names) or any(name == "kl_div" or name.lower().endswith("loss")
                                                     for name in traced):
        return "loss"
    if softmax:
        return "softmax"
    if "_log_softmax" in names:
        return "log_softmax"
    if any(name in _POOLS for name in names):
        return "pooling"
    if any(name in _SCANS for name in names):
        return "scan"
    if "mean" in names and ("rsqrt" in names or "sqrt" in names):
        return "rms_norm"
    if any(name in _REDUCTIONS for name in names):
        return "reduction"
    if names and (any(name in _ACTIVATIONS for name in names) or "erf" in names):
        return "activation"
    if names and all(name in _POINTWISE for name in names):
        return "elementwise"
    return "other"
