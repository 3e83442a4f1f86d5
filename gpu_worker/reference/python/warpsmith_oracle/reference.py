"""A loaded problem: draws inputs, runs the module in its own precision and in float64, keeps the answers of recent
seeds where memory is the host's (on a GPU the slots of a candidate keep them: trial.py)."""

import collections
import contextlib
import copy

import torch

from warpsmith_oracle import answers, arg_reductions, device as devices, draws, kernels, native, precision, tensors
from warpsmith_oracle import wide
from warpsmith_oracle.errors import REMEDIES, OracleError, is_memory_error
from warpsmith_oracle.problem_file import ProblemFile


class Case:
    """Inputs of one seed and distribution, and what the module makes of them."""

    def __init__(self, seed, distribution):
        self.seed, self.distribution = seed, distribution
        self.values = {}         # name -> tensor: inputs, parameters, buffers, attributes before forward()
        self.new_values = {}     # name -> Answer of a tensor that forward() changes
        self.outputs = []        # Answers
        self.notes = []
        self.arguments = None    # None once they were let go
        self.model = None
        self.half_finite = None  # set on first need
        self.drawn = 0           # floating draws that get_inputs() made

    def bytes(self, model):
        """Memory that goes with the case; the module's own tensors do not, unless it has a module of its own."""
        shared = {tensor.data_ptr() for _, _, tensor in tensors.module_tensors(model)} if self.model is model else ()
        held = sum(value.numel() * value.element_size() for value in self.values.values()
                   if value.data_ptr() not in shared)
        for answer in self.outputs + list(self.new_values.values()):
            held += sum(part.numel() * part.element_size() for part in answer.tensors())
        return held

    def let_inputs_go(self):
        self.values, self.arguments = {}, None


class Problem:
    """Threading: one thread at a time. `stage` is told what runs. `fused` False: PyTorch's own operators judge, on a
    GPU too."""

    def __init__(self, name, source, settings, stage, device="cpu", cache_bytes=1 << 30, fused=True):
        self.device = torch.device(device)
        self.kernels = kernels.of(self.device) if fused else None
        self.file = ProblemFile(name, source, stage, self.device)
        self.settings = settings
        devices.true_float32()
        self.model = self.file.build(bool(settings.get("eval_mode")))
        self._cache_bytes = 0 if devices.is_cuda(self.device) else cache_bytes
        self._cases = collections.OrderedDict()
        self.case_bytes = self.working_bytes = 0  # set by measure()
        self.specs = None  # published specs by name; set by intake or load
        self._initialise_lazy_modules()

    def driver(self):
        """native.Driver; on a GPU only."""
        if self.kernels is not None:
            return self.kernels.driver
        torch.zeros(1, device=self.device)
        return native.Driver()

    def measure(self):
        """Makes a case, and learns what one keeps and what making it takes beside. For a GPU."""
        devices.empty_cache(self.device)
        torch.cuda.reset_peak_memory_stats(self.device)
        before = torch.cuda.memory_allocated(self.device)
        case = self.make_case(0, draws.PLAIN)
        case.let_inputs_go()
        self.case_bytes = torch.cuda.memory_allocated(self.device) - before
        # Redrawn parameters are a module of their own.
        own = sum(tensor.numel() * tensor.element_size() for _, _, tensor in tensors.module_tensors(self.model))
        self.working_bytes = torch.cuda.max_memory_allocated(self.device) - before + own
        del case
        devices.empty_cache(self.device)

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
        values, drawn = draws.draw(self.file, seed, draws.PLAIN if distribution == draws.PARAMETERS else distribution)
        try:
            return precision.map_tensors(values, lambda tensor: tensor.detach().to(self.device)), drawn
        except RuntimeError as error:
            if not is_memory_error(error):
                raise
            raise OracleError("memory", f"{self.file.display_name}: its inputs do not fit into the memory of "
                                        f"{devices.name(self.device)}; {REMEDIES['memory']}") from error

    def names(self, arguments):
        return tensors.argument_names(self.model, arguments, self.file)

    def run(self, model, arguments, what="forward()"):
        """forward() on copies: the caller's module and arguments stay. Returns (result, module after, arguments
        after)."""
        devices.true_float32()
        model, arguments = copy.deepcopy(model), copy.deepcopy(arguments)
        return self.file.call(model, arguments, what), model, arguments

    def state(self, model, arguments):
        """Every input and module tensor by name, in signature order, as (name, role, tensor)."""
        names, _ = self.names(arguments)
        inputs, _ = tensors.split_arguments(names, arguments)
        return [(name, tensors.INPUT, tensor) for name, tensor in inputs] + tensors.module_tensors(model)

    def case(self, seed, distribution):
        """A case that may be shared with earlier callers: not to be changed."""
        key = (seed, distribution)
        if key in self._cases:
            self._cases.move_to_end(key)
            return self._cases[key]
        case = self.make_case(seed, distribution)
        if self._cache_bytes == 0:
            return case
        self._cases[key] = case
        while len(self._cases) > 1 and sum(kept.bytes(self.model) for kept in self._cases.values()) > self._cache_bytes:
            self._cases.popitem(last=False)
        return case

    def draw_case(self, seed, distribution):
        """A case without answers."""
        case = Case(seed, distribution)
        case.arguments, case.drawn = self.arguments(seed, distribution)
        case.model = self.model
        if distribution == draws.PARAMETERS:
            case.model = copy.deepcopy(self.model)
            draws.redraw_parameters(case.model, seed)
        entries = self.state(case.model, case.arguments)
        case.values = {name: tensor.detach() for name, _, tensor in entries}
        self._check_layout(case)
        return case

    def make_case(self, seed, distribution):
        with self._refusing_memory():
            case = self.draw_case(seed, distribution)
            self.answer(case)
            return case

    def answer(self, case, compare=None):
        """Fills in what the module makes of a case's inputs. `compare` gets the outputs of its own run as soon as they
        are there, and may refuse them."""
        with self._refusing_memory():
            self._answer(case, compare)

    @contextlib.contextmanager
    def _refusing_memory(self):
        try:
            yield
        except RuntimeError as error:
            if not is_memory_error(error):
                raise
            raise OracleError("memory", f"{self.file.display_name}: inputs and answers do not fit into the memory of "
                                        f"{devices.name(self.device)}; {REMEDIES['memory']}") from error

    def _answer(self, case, compare):
        devices.true_float32()
        recorder, result, after = self._own_run(case)
        held = {_storage(value) for value in case.values.values()}
        own = [(name, _kept(tensor, held), recorder.match(tensor)) for name, tensor in tensors.flatten_outputs(result)]
        del result, recorder
        if compare is not None:
            compare([value for _, value, _ in own])
        changed = {name: after[name].detach().contiguous().clone() for name, before in case.values.items()
                   if name in after and after[name] is not before and not tensors.same_bits(before, after[name])}
        del after
        wide_result, wide_after, fits = None, {}, True
        try:
            wide_result, wide_after = wide.run(self, case)
        except (RuntimeError, MemoryError):  # memory: nothing else gets here
            fits = False
        if not fits:  # once the exception has let go of what it held
            self._answer_in_pieces(case, own, changed)
            return
        wide_outputs = dict(tensors.flatten_outputs(wide_result)) if wide_result is not None else {}
        del wide_result
        case.outputs = [answers.make(name, value, wide_outputs.pop(name, None), selection, self.kernels)
                        for name, value, selection in own]
        case.new_values = {name: answers.make(name, value, wide_after.get(name), None, self.kernels)
                           for name, value in changed.items()}

    def _answer_in_pieces(self, case, own, changed):
        """Where the float64 run does not fit into memory as a whole."""
        devices.empty_cache(self.device)
        found = None
        if self.kernels is not None and not changed:
            found = wide.pieces(self, case, [(name, value) for name, value, _ in own])
        devices.empty_cache(self.device)
        if found is None:
            case.notes.append("float64 answers do not fit into memory; outputs are held against the module's own run, "
                              "with bounds eight times as wide")
        case.outputs = []
        for name, value, selection in own:
            if found is not None and name in found:
                case.outputs.append(answers.from_parts(name, value, found[name], self.kernels))
            elif value.dtype is torch.float32:
                case.outputs.append(answers.unanswered(name, value, self.kernels))
            else:
                case.outputs.append(answers.make(name, value, None, selection, self.kernels))
        case.new_values = {name: answers.make(name, value, None, None, self.kernels) for name, value in changed.items()}

    def _changes(self, role_is_input):
        """Whether forward() changes its arguments, or else the module; True where that is not known yet."""
        if self.specs is None:
            return True
        return any(entry.get("mutated") and (entry["role"] == tensors.INPUT) == role_is_input
                   for entry in self.specs.values())

    def _own_run(self, case):
        on_gpu = devices.is_cuda(self.device)  # copies there may be most of the memory
        model = case.model if on_gpu and not self._changes(False) else copy.deepcopy(case.model)
        arguments = case.arguments if on_gpu and not self._changes(True) else copy.deepcopy(case.arguments)
        before = self.state(model, arguments)
        recorder = arg_reductions.Recorder([tensor.data_ptr() for _, _, tensor in before])
        with recorder:
            result = self.file.call(model, arguments)
        after = {}
        for name, _, tensor in self.state(model, arguments):
            same = model is case.model and arguments is case.arguments
            after[name] = case.values[name] if same and name in case.values else tensor.detach()
        return recorder, result, after

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
                arguments = case.arguments
                if arguments is None:
                    arguments, _ = self.arguments(case.seed, case.distribution)
                result = precision.half_emulated(case.model, arguments, self.file.call)
                pairs = zip(case.outputs, tensors.flatten_outputs(result))
                case.half_finite = all(
                    not own.own.is_floating_point() or
                    bool((torch.isfinite(half) | ~torch.isfinite(own.own)).all()) for own, (_, half) in pairs)
            except (OracleError, RuntimeError):
                case.half_finite = True
        return case.half_finite


def _storage(tensor):
    storage = tensor.untyped_storage() if hasattr(tensor, "untyped_storage") else tensor.storage()
    return storage.data_ptr()


def _kept(tensor, held):
    """A dense tensor of its own, without a copy where it is one already."""
    dense = tensor.detach().contiguous()
    storage = dense.untyped_storage() if hasattr(dense, "untyped_storage") else dense.storage()
    whole = storage.nbytes() == dense.numel() * dense.element_size()
    return dense if whole and storage.data_ptr() not in held else dense.clone()
