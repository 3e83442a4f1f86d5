"""What a problem is: its v1.ProblemSignature and baselines. Runs once a problem, in a process of its own."""

import inspect
import time

import torch

from warpsmith_oracle import baselines, device as devices, draws, norms, operators, probes, tensors, timing
from warpsmith_oracle import timings
from warpsmith_oracle.errors import OracleError
from warpsmith_oracle.reference import Problem

DEFAULT_TOLERANCE = 1e-2
_INTAKE_SEED = 0
_STOCHASTIC_RMS = 1e-5  # run-to-run differences of float sums stay far below it
_BASELINE_SECONDS = 1.0


def _check_outputs(problem, outputs, result):
    name = problem.file.display_name
    if not outputs:
        raise OracleError("no_tensor", f"{name}: forward() returned {type(result).__name__} without a tensor; return a "
                                       "tensor, or a tuple or list of tensors")
    for output_name, tensor in outputs:
        if tensor.numel() == 0:
            raise OracleError("no_tensor", f"{name}: {output_name} has no elements (shape {list(tensor.shape)}); "
                                           "choose sizes that leave something to compute")


def _publish_tensors(problem, case, entries, outputs):
    specs = [tensors.spec(name, role, tensor, problem.file) for name, role, tensor in entries]
    tensors.mark_aliases(entries, specs)
    for tensor_spec in specs:
        if tensor_spec["name"] in case.new_values:
            tensor_spec["mutated"] = True
    names = [tensor_spec["name"] for tensor_spec in specs]
    if len(set(names)) != len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise OracleError("inputs", f"{problem.file.display_name}: two tensors are named {twice!r}; rename the "
                                    "argument of forward() or the attribute of Model")
    return specs + outputs


def _frozen_arguments(problem, arguments):
    names, defaults = problem.names(arguments)
    _, others = tensors.split_arguments(names, arguments)
    return [{"name": name, "json_value": tensors.json_value(value)} for name, value in others + defaults
            if not isinstance(value, torch.Tensor)]


def _infinite(answer):
    return norms.count_infinite(answer.own) if answer.floating else 0


def _usable(case, usual_infinities):
    """Whether the references agree well enough for the strictest class to mean something, and the answer is as finite
    as on the problem's own distribution (minus infinity in a mask stays)."""
    for answer, usual in zip(case.outputs, usual_infinities):
        if not answer.floating:
            continue
        if answer.overflows:
            return False
        infinite = _infinite(answer)
        if infinite != usual or infinite == answer.own.numel():
            return False
        own, limit = answer.stick.torch_norms, norms.LIMITS[norms.FP32]
        if own.rms > limit.rms.cap or own.tile > limit.tile.cap or own.maximum > limit.maximum.cap * answer.stick.peak:
            return False
    return True


def _try_hard_cases(problem, usual_infinities, drawn, run):
    """Probes on every usable harder distribution, one after the other: they may not fit into memory together. Returns
    notes of those left out for memory."""
    has_parameters = any(parameter.is_floating_point() for parameter in problem.model.parameters())
    notes = []
    for distribution in draws.DISTRIBUTIONS[1:]:
        if not (has_parameters if distribution == draws.PARAMETERS else drawn > 0):
            continue
        case = None
        try:
            case = problem.make_case(_INTAKE_SEED, distribution)
        except OracleError as error:
            if error.kind == "memory":
                if not devices.is_cuda(problem.device):
                    raise
                notes.append(f"the distribution {distribution} does not fit into this GPU's memory: not tried.")
            # else the module refuses such inputs
        if case is not None and _usable(case, usual_infinities):
            run.add(distribution, case)
    return notes


def _summary(problem, notes):
    model = problem.model
    lines = repr(model).splitlines()
    text = "\n".join(lines[:24] + (["..."] if len(lines) > 24 else []))[:2000]
    about = inspect.getdoc(type(model)) or ""
    if about and about != (inspect.getdoc(torch.nn.Module) or ""):
        notes = [about.strip().splitlines()[0][:300]] + notes
    parameters = sum(parameter.numel() for parameter in model.parameters())
    mode = "training" if model.training else "eval"
    return "\n".join(notes + [f"{parameters} parameters, {mode} mode."] + [text])


def _two_runs(problem, settings, watch):
    """Runs the module twice on the same inputs, once to count what it does and once for its answer. Returns (Case,
    operators.Count, specs of the outputs)."""
    case = problem.draw_case(_INTAKE_SEED, draws.PLAIN)
    problem.names(case.arguments)
    watch.lap("inputs")
    devices.reset_peak(problem.device)
    first, count = operators.count(lambda: problem.run(case.model, case.arguments)[0])
    outputs = tensors.flatten_outputs(first)
    _check_outputs(problem, outputs, first)
    for name, role, tensor in problem.state(case.model, case.arguments):
        tensors.spec(name, role, tensor, problem.file)  # an input that cannot be published is told before an output
    specs = [tensors.spec(name, tensors.OUTPUT, tensor, problem.file) for name, tensor in outputs]
    earlier = [tensor for _, tensor in outputs]
    del first, outputs
    watch.lap("count")

    def compare(own):
        """Before the float64 run, which may need the memory of the first."""
        same = norms.outputs_agree(own, earlier, _STOCHASTIC_RMS)
        earlier.clear()
        watch.lap("second run")
        if same:
            return
        remedy = "random numbers that forward() draws itself belong into get_inputs()"
        if not settings.get("eval_mode"):
            remedy = "where that is dropout, take it in with eval mode; " + remedy
        raise OracleError("stochastic", f"{problem.file.display_name}: two runs of forward() on the same inputs "
                                        f"differ, so there is no answer to judge against; {remedy}")

    problem.answer(case, compare)
    watch.lap("float64")
    return case, count, specs


def take_in(name, source, settings, stage, device, harness_revision, with_baseline=True):
    """v1.IntakeResult as a dictionary, with the seconds that it took by stage; raises OracleError for a refused
    problem."""
    watch = timings.Watch()
    problem = Problem(name, source, settings, stage, device)
    watch.lap("build")
    on_gpu = devices.is_cuda(problem.device)
    plain, count, outputs = _two_runs(problem, settings, watch)
    drawn = plain.drawn

    stage("judging")
    specs = _publish_tensors(problem, plain, problem.state(problem.model, plain.arguments), outputs)
    problem.specs = {entry["name"]: entry for entry in specs}
    frozen = _frozen_arguments(problem, plain.arguments)
    tolerance = settings.get("tolerance") or DEFAULT_TOLERANCE
    infinities = [_infinite(answer) for answer in plain.outputs]
    run = probes.Run(problem, tolerance)
    run.add(draws.PLAIN, plain)
    unusable = "" if _usable(plain, infinities) else _unusable_reason(plain)
    notes = list(dict.fromkeys(plain.notes))
    watch.lap("probes")
    if on_gpu:
        plain = None  # the others may need its memory
    problem.draw_case(_INTAKE_SEED + 1, draws.PLAIN)  # shapes must not change from draw to draw
    notes += _try_hard_cases(problem, infinities, drawn, run)
    watch.lap("distributions")
    degenerate = run.degenerate() or unusable
    traced = operators.traced_names(problem.model)
    if drawn == 0 and any(entry["role"] == tensors.INPUT for entry in specs):
        notes.append("get_inputs() makes no floating-point draws through PyTorch: harder distributions are not tried.")

    signature = {
        "tensors": specs,
        "frozen_arguments": frozen,
        "operators": traced,
        "operator_family": operators.family(count.names, traced),
        "stochastic": False,
        "mutates_policy": "MUTATES_POLICY_REQUIRED" if settings.get("require_mutations") else "MUTATES_POLICY_IGNORED",
        "training_mode": problem.model.training,
        "algorithm_flops": count.flops,
        "degenerate": bool(degenerate),
        "degenerate_reason": degenerate,
        "tolerance": tolerance,
        "distributions": run.distributions,
        "trivial_passes": run.trivial,
        "module_summary": _summary(problem, notes),
    }
    signature.update(_sizes(specs, count.peak_bytes))
    watch.lap("operators")
    stage("timing")
    if not with_baseline:
        baseline = None
    elif on_gpu:
        baseline = baselines.Suite(problem, harness_revision, _BASELINE_SECONDS).take("eager")
    else:
        baseline = timing.eager(problem, plain, _BASELINE_SECONDS)
        baseline.pop("samples_ms")
        baseline.update(name="eager", precision_class=norms.FP32, emulated=True, harness_rev=harness_revision,
                        device_name=devices.name(device), pytorch_version=torch.__version__)
    watch.lap("baseline")
    problem.close()
    return {"signature": signature, "baselines": [baseline] if baseline else [], "seconds": watch.seconds}


def _unusable_reason(case):
    for answer in case.outputs:
        if not answer.floating:
            continue
        if _infinite(answer) == answer.own.numel():
            return f"{answer.name} holds no finite element"
        if answer.stick.torch_norms.rms > norms.LIMITS[norms.FP32].rms.cap:
            return (f"PyTorch's own float32 run of {answer.name} is {answer.stick.torch_norms.rms:.1e} of its RMS away "
                    "from float64: there is no answer to hold on to")
    return ""


def _sizes(specs, peak_bytes):
    """Device memory and the algorithm's traffic, in bytes. Answers in float64 double each float32 size, inputs
    included."""
    held = sum(entry["storage_bytes"] for entry in specs if entry["role"] != tensors.OUTPUT and "alias_of" not in entry)
    out = sum(entry["storage_bytes"] for entry in specs if entry["role"] == tensors.OUTPUT)
    least = held + 2 * out + peak_bytes
    return {"algorithm_bytes": held + out, "bytes_min": least, "bytes_full": least + 2 * (held + out + peak_bytes)}
