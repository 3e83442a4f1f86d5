"""The module's time by each way that PyTorch has of running it, on a GPU, and the precision class of each.

eager: PyTorch's defaults (TF32 in convolutions, not in matrix products); eager_tf32_off; eager_graph: the defaults,
captured once and replayed; compile_default and compile_max_autotune: torch.compile; library: the one cuBLAS or cuDNN
call that computes the whole module, in float32, where there is one. What cannot be had is told in skipped_reason.
"""

import copy

import torch

from warpsmith_oracle import device as devices, draws, norms, precision, tensors, timing

_GRAPH_WARM_UPS = 3


class Skipped(Exception):
    """A baseline that this problem or machine does not have."""


class Suite:
    """All baselines of one problem; its answers are made once. Threading: one thread."""

    def __init__(self, problem, harness_revision, seconds):
        self._problem, self._harness_revision, self._seconds = problem, harness_revision, seconds
        self._case = None
        self._management = devices.Management(problem.device)

    def take(self, name):
        """A v1.Baseline as a dictionary."""
        result = {"name": name, "emulated": False, "harness_rev": self._harness_revision,
                  "device_name": devices.name(self._problem.device), "pytorch_version": torch.__version__,
                  "driver": self._management.driver(), "power_limit_w": self._management.power_limit_w()}
        method = _METHODS.get(name)
        try:
            if method is None:
                raise Skipped(f"no baseline {name!r}; there are {', '.join(_METHODS)}")
            if self._case is None:
                self._case = self._problem.make_case(0, draws.PLAIN)
            run, first = method(self)
            precision_class = self._class(first)
            del first
            timed = timing.cuda(run, self._problem.device, self._seconds)
            timed.pop("samples_ms")
            timed.pop("throttled_samples")
            result.update(timed, precision_class=precision_class)
        except Skipped as reason:
            result["skipped_reason"] = str(reason)
        except Exception as error:  # torch.compile fails in many ways; none of them is ours to pass on
            lines = [line.strip() for line in str(error).splitlines() if line.strip()]
            result["skipped_reason"] = f"{type(error).__name__}: {lines[0][:300] if lines else 'no message'}"
        finally:
            devices.true_float32()
            devices.empty_cache(self._problem.device)
        return result

    def _class(self, result):
        """The loosest class of the outputs of a module's first run."""
        outputs = dict(tensors.flatten_outputs(result))
        worst = 0
        for answer in self._case.outputs:
            if not answer.floating or answer.name not in outputs:
                continue
            got = outputs[answer.name].detach().contiguous()
            reached = norms.reached(answer.measure(got), answer.stick) if got.shape == answer.own.shape and (
                got.dtype is answer.own.dtype) else None
            if reached is None:
                return "PRECISION_CLASS_UNSPECIFIED"
            worst = max(worst, norms.CLASSES.index(reached))
        return norms.CLASSES[worst]

    def _runner(self):
        """(function, what its first run returned)"""
        return timing.runner(self._problem, self._case.model, self._case.arguments)

    def eager(self):
        devices.pytorch_defaults()
        return self._runner()

    def eager_tf32_off(self):
        devices.true_float32()
        return self._runner()

    def eager_graph(self):
        devices.pytorch_defaults()
        run, first = self._runner()
        return self._captured(run), first

    def _captured(self, run):
        side = torch.cuda.Stream(self._problem.device)
        side.wait_stream(torch.cuda.current_stream(self._problem.device))
        with torch.cuda.stream(side):
            for _ in range(_GRAPH_WARM_UPS):
                run()
        torch.cuda.current_stream(self._problem.device).wait_stream(side)
        torch.cuda.synchronize(self._problem.device)
        graph = torch.cuda.CUDAGraph()
        try:
            with torch.cuda.graph(graph):
                result = run()
        except RuntimeError as error:
            torch.cuda.synchronize(self._problem.device)
            raise Skipped(f"cannot be captured as a graph: {(str(error).splitlines() or [''])[0][:200]}") from error

        def replay():
            graph.replay()
            return result
        return replay

    def _compiled(self, mode):
        if not hasattr(torch, "compile"):
            raise Skipped("this PyTorch has no torch.compile")
        devices.pytorch_defaults()
        torch._dynamo.reset()
        model, arguments = copy.deepcopy(self._case.model), copy.deepcopy(self._case.arguments)
        compiled = torch.compile(model) if mode is None else torch.compile(model, mode=mode)

        def run():
            with torch.no_grad():
                return compiled(*arguments)
        return run, precision.map_tensors(run(), torch.clone)

    def compile_default(self):
        return self._compiled(None)

    def compile_max_autotune(self):
        return self._compiled("max-autotune")

    def library(self):
        devices.true_float32()
        wanted = self._case.outputs
        if len(wanted) != 1 or not wanted[0].floating:
            raise Skipped("the module returns no single floating tensor")
        for call in _calls(self._case, wanted[0].own):
            try:
                with torch.no_grad():
                    found = call()
            except RuntimeError:
                continue
            if found.shape == wanted[0].own.shape and self._class(found) == norms.FP32:
                return call, found
        raise Skipped("no single cuBLAS or cuDNN call computes this module")


def _calls(case, output):
    """Library calls that might be the whole module, each returning its output."""
    inputs = [tensor for name, tensor in case.values.items() if not name.startswith("attr:") and
              tensor.is_floating_point()]
    parameters = {id(parameter) for parameter in case.model.parameters()}
    arguments = [tensor for tensor in inputs if id(tensor) not in parameters and
                 tensor.data_ptr() not in {parameter.data_ptr() for parameter in case.model.parameters()}]
    out = torch.empty_like(output)
    layers = [module for module in case.model.modules() if not list(module.children())]
    if len(arguments) == 2:
        yield from _products(arguments[0], arguments[1], out)
    if len(arguments) == 1 and len(layers) == 1:
        source, layer = arguments[0], layers[0]
        if isinstance(layer, torch.nn.Linear):
            rows, flat = source.reshape(-1, source.shape[-1]), out.reshape(-1, out.shape[-1])
            if layer.bias is not None:
                yield lambda: torch.addmm(layer.bias.detach(), rows, layer.weight.detach().t(), out=flat).view_as(out)
            else:
                yield lambda: torch.mm(rows, layer.weight.detach().t(), out=flat).view_as(out)
        elif isinstance(layer, torch.nn.modules.conv._ConvNd):
            yield lambda: layer(source)


def _products(left, right, out):
    def product(a, b):
        if a.dim() == b.dim() == 2:
            return lambda: torch.mm(a, b, out=out)
        if a.dim() == b.dim() == 3:
            return lambda: torch.bmm(a, b, out=out)
        if a.dim() > 2 and b.dim() == 2:
            rows, flat = a.reshape(-1, a.shape[-1]), out.reshape(-1, out.shape[-1])
            return lambda: torch.mm(rows, b, out=flat).view_as(out)
        if a.dim() == 2 and b.dim() == 1:
            return lambda: torch.mv(a, b, out=out)
        return None
    lefts = [left] + ([left.transpose(-1, -2)] if left.dim() > 1 else [])
    rights = [right] + ([right.transpose(-1, -2)] if right.dim() > 1 else [])
    for a in lefts:
        for b in rights:
            call = product(a, b)
            if call is not None:
                yield call


_METHODS = {name: getattr(Suite, name) for name in ("eager", "eager_tf32_off", "eager_graph", "compile_default",
                                                    "compile_max_autotune", "library")}
