"""A loaded problem: draws inputs, runs the module in its own precision and in float64, keeps the answers of recent
seeds."""

import collections
import copy

import torch

from warpsmith_oracle import arg_reductions, draws, norms, precision, tensors
from warpsmith_oracle.errors import OracleError
from warpsmith_oracle.problem_file import ProblemFile

# One output of one case. `answer` is float64 for floating outputs, else None; `other` the float64 run's integers.
Answer = collections.namedtuple("Answer", "name own answer stick other selection")


class Case:
    """Inputs of one seed and distribution, and what the module makes of them."""

    def __init__(self):
        self.values = {}         # name -> tensor: inputs, parameters, buffers, attributes before forward()
        self.new_values = {}     # name -> Answer of a tensor that forward() changes
        self.outputs = []        # Answers
        self.notes = []
        self.arguments = None
        self.model = None
        self.half_finite = None  # set on first need

    def bytes(self, model):
        """Memory that goes with the case; the module's own tensors do not, unless it has a module of its own."""
        shared = {tensor.data_ptr() for _, _, tensor in tensors.module_tensors(model)} if self.model is model else ()
        held = sum(value.numel() * value.element_size() for value in self.values.values()
                   if value.data_ptr() not in shared)
        for answer in self.outputs + list(self.new_values.values()):
            held += sum(part.numel() * part.element_size() for part in (answer.own, answer.answer) if part is not None)
        return held


class Problem:
    """Threading: one thread at a time. `stage` is told what runs."""

    def __init__(self, name, source, settings, stage, device="cpu", cache_bytes=1 << 30):
        self.file = ProblemFile(name, source, stage)
        self.device = device
        self.settings = settings
        self.model = self.file.build(bool(settings.get("eval_mode")), device)
        self._cache_bytes = cache_bytes
        self._cases = collections.OrderedDict()
        self.specs = None  # published specs by name; set by intake or load
        self._initialise_lazy_modules()

    def close(self):
        self._cases.clear()
        self.file.close()

    def _initialise_lazy_modules(self):
        is_lazy = torch.nn.parameter.is_lazy
        if any(is_lazy(tensor) for tensor in list(self.model.parameters()) + list(self.model.buffers())):
            arguments, _ = self.arguments(0, draws.PLAIN)
            self.file.call(self.model, arguments)

    def arguments(self, seed, distribution):
        """get_inputs() on the device, and the number of floating draws it made."""
        values, drawn = draws.draw(self.file, seed, distribution)
        return precision.map_tensors(values, lambda tensor: tensor.detach().to(self.device)), drawn

    def names(self, arguments):
        return tensors.argument_names(self.model, arguments, self.file)

    def run(self, model, arguments, what="forward()"):
        """forward() on copies: the caller's module and arguments stay. Returns (result, module after, arguments
        after)."""
        model, arguments = copy.deepcopy(model), copy.deepcopy(arguments)
        return self.file.call(model, arguments, what), model, arguments

    def state(self, model, arguments):
        """Every input and module tensor by name, in signature order, as (name, role, tensor)."""
        names, _ = self.names(arguments)
        inputs, _ = tensors.split_arguments(names, arguments)
        return [(name, tensors.INPUT, tensor) for name, tensor in inputs] + tensors.module_tensors(model)

    def case(self, seed, distribution):
        key = (seed, distribution)
        if key in self._cases:
            self._cases.move_to_end(key)
            return self._cases[key]
        case = self.make_case(seed, distribution)
        self._cases[key] = case
        while len(self._cases) > 1 and sum(kept.bytes(self.model) for kept in self._cases.values()) > self._cache_bytes:
            self._cases.popitem(last=False)
        return case

    def make_case(self, seed, distribution):
        case = Case()
        case.arguments, _ = self.arguments(seed, draws.PLAIN if distribution == draws.PARAMETERS else distribution)
        case.model = self.model
        if distribution == draws.PARAMETERS:
            case.model = copy.deepcopy(self.model)
            draws.redraw_parameters(case.model, seed)
        entries = self.state(case.model, case.arguments)
        case.values = {name: tensor.detach() for name, _, tensor in entries}
        self._check_layout(case)

        recorder, result, after = self._own_run(case)
        wide, wide_after = self._wide_run(case)
        outputs = tensors.flatten_outputs(result)
        wide_outputs = dict(tensors.flatten_outputs(wide)) if wide is not None else {}
        case.outputs = [self._answer(name, own, wide_outputs.get(name), recorder.match(own)) for name, own in outputs]
        for name, before in case.values.items():
            if name in after and not tensors.same_bits(before, after[name]):
                case.new_values[name] = self._answer(name, after[name], wide_after.get(name), None)
        return case

    def _own_run(self, case):
        model, arguments = copy.deepcopy(case.model), copy.deepcopy(case.arguments)
        pointers = [tensor.data_ptr() for _, _, tensor in self.state(model, arguments)]
        recorder = arg_reductions.Recorder(pointers)
        with recorder:
            result = self.file.call(model, arguments)
        return recorder, result, {name: tensor.detach() for name, _, tensor in self.state(model, arguments)}

    def _wide_run(self, case):
        try:
            model = precision.double_copy(case.model)
            arguments = precision.double_arguments(copy.deepcopy(case.arguments))
            with precision.double_precision(), torch.no_grad():
                result = model(*arguments)
            after = {name: tensor.detach() for name, _, tensor in self.state(model, arguments)}
            for _, tensor in tensors.flatten_outputs(result):
                if tensor.is_floating_point() and tensor.dtype is not torch.float64:
                    case.notes.append("the module narrows its result itself; its float64 run is not exact")
            return result, after
        except (RuntimeError, TypeError, ValueError, NotImplementedError) as error:
            reason = (str(error).splitlines() or [""])[0][:120]
            case.notes.append(f"the module does not run in float64 ({reason}); outputs are held against its own run")
            return None, {}

    @staticmethod
    def _answer(name, own, wide, selection):
        own = own.detach().contiguous().clone()
        usable = wide is not None and wide.shape == own.shape
        if not own.is_floating_point():
            other = wide.detach().to(own.dtype).contiguous() if usable else None
            return Answer(name, own, None, None, other, selection)
        answer = wide.detach().double().contiguous().clone() if usable else own.double()
        # Where float32 overflows, its infinities are the answer.
        return Answer(name, own, answer, norms.yardstick(own, answer, widened=not usable), None, None)

    def _check_layout(self, case):
        for name, published in (self.specs or {}).items():
            if published["role"] == tensors.OUTPUT:
                continue
            value = case.values.get(name)
            if value is None or list(value.shape) != published["shape"] or (
                    tensors.dtype_name(value.dtype) != published["dtype"]):
                now = "missing" if value is None else f"{tensors.dtype_name(value.dtype)} {list(value.shape)}"
                raise OracleError("inputs", f"{self.file.display_name}: {name} was {published['dtype']} "
                                            f"{published['shape']} and is {now} this time; get_inputs() must return "
                                            "the same shapes and types at each call")

    def half_finite(self, case):
        """Whether the module stays finite in emulated float16 wherever it does in its own precision."""
        if case.half_finite is None:
            try:
                result = precision.half_emulated(case.model, case.arguments, self.file.call)
                pairs = zip(case.outputs, tensors.flatten_outputs(result))
                case.half_finite = all(
                    not own.own.is_floating_point() or
                    bool((torch.isfinite(half) | ~torch.isfinite(own.own)).all()) for own, (_, half) in pairs)
            except (OracleError, RuntimeError):
                case.half_finite = True
        return case.half_finite
