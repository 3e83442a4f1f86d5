"""How long a run takes on this device: samples of single runs after warm-up, without gradients.

Beside the emulated device PyTorch is held to one thread while it is timed: that device is one thread, so that a
candidate's time on it and the module's can be set beside each other; both are processor time, since neither has a core
to itself. On a GPU each run starts on a cold second-level cache (twice its size is written before) and is timed by
events; samples taken while the GPU was throttled are left out and counted, but for a few that are always kept. The
number of samples follows the time at hand, so that short runs get enough of them for a steady median.
"""

import copy
import statistics
import time

import torch

from warpsmith_oracle import device as devices, precision

_MAX_SAMPLES = 20000
_MIN_SAMPLES = 5
_WARM_UP_SHARE = 0.2
_MAX_CUDA_SAMPLES = 200
_BATCH_SECONDS = 0.02
_MAX_BATCH = 25


def quartile_spread(samples):
    ordered = sorted(samples)
    last = len(ordered) - 1
    return (ordered[(3 * last + 2) // 4] - ordered[last // 4]) / max(statistics.median(ordered), 1e-12)


def typical(samples):
    """The figure that stands for samples: their median, or by a clock whose ticks are coarse beside it, the mean of all
    but outliers. As the candidates' (gpu_worker/measure/location.h)."""
    ordered = sorted(samples)
    median = statistics.median(ordered)
    if len(ordered) < 8 or median <= 0:
        return median
    steps = [after - before for before, after in zip(ordered, ordered[1:]) if after - before > 1e-5 * median]
    tick = min(steps, default=0.0)
    if tick <= 1e-3 * median:
        return median
    deviation = 1.4826 * statistics.median([abs(sample - median) for sample in ordered])
    half = max(3 * deviation, 2.5 * tick)
    return statistics.fmean([sample for sample in ordered if abs(sample - median) <= half])


def _summary(samples):
    return {"median_ms": typical(samples), "spread": quartile_spread(samples), "samples": len(samples),
            "samples_ms": samples[:_MAX_CUDA_SAMPLES]}


def eager(problem, case, seconds):
    """{median_ms, spread, samples, samples_ms} of the module: as many samples as fit into about `seconds`, at least a
    few unless one takes longer."""
    if devices.is_cuda(problem.device):
        run, _ = runner(problem, case.model, case.arguments)
        return cuda(run, problem.device, seconds)
    model, arguments = copy.deepcopy(case.model), copy.deepcopy(case.arguments)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        problem.file.call(model, arguments)  # an exception is told here; what follows is the bare module
        samples = []
        with torch.no_grad():
            warm = time.perf_counter() + seconds * _WARM_UP_SHARE
            end = warm + seconds
            while len(samples) < _MAX_SAMPLES:
                start = time.thread_time()
                model(*arguments)
                taken = time.thread_time() - start
                now = time.perf_counter()
                if now > warm:
                    samples.append(taken * 1e3)
                if now > end and (len(samples) >= _MIN_SAMPLES or now > end + 4 * seconds) and samples:
                    break
        return _summary(samples)
    finally:
        torch.set_num_threads(threads)


def runner(problem, model, arguments):
    """A function that runs the bare module on copies, with the GPU as default device where it needs that; and what the
    first run returned."""
    model, arguments = copy.deepcopy(model), copy.deepcopy(arguments)
    for module in model.modules():
        if isinstance(module, torch.nn.RNNBase):
            module.flatten_parameters()

    def bare():
        with torch.no_grad():
            return model(*arguments)

    def with_default_device():
        with torch.no_grad(), devices.default_device(problem.device):
            return model(*arguments)
    # An exception of its own is told here. What it returns may be state that later runs move on.
    first = precision.map_tensors(problem.file.call(model, arguments), torch.clone)
    try:
        bare()
        return bare, first
    except RuntimeError:
        return with_default_device, first


def cuda(run, device, seconds):
    """The same of any function that enqueues work on PyTorch's current stream."""
    flush = torch.empty(2 * devices.l2_bytes(device), dtype=torch.uint8, device=device)
    management = devices.Management(device)
    torch.cuda.synchronize(device)
    warmed, start = 0, time.perf_counter()
    while warmed < 3 or time.perf_counter() - start < seconds * _WARM_UP_SHARE:
        run()
        torch.cuda.synchronize(device)
        warmed += 1
        if time.perf_counter() - start > 2 * seconds:
            break
    each = max((time.perf_counter() - start) / warmed, 1e-6)
    batch = int(min(max(_BATCH_SECONDS / each, 1), _MAX_BATCH))
    samples, dropped, begun = [], [], time.perf_counter()
    while len(samples) < _MAX_CUDA_SAMPLES:
        events = []
        for _ in range(batch):
            flush.zero_()
            pair = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            pair[0].record()
            run()
            pair[1].record()
            events.append(pair)
        torch.cuda.synchronize(device)
        (dropped if management.throttled() else samples).extend(first.elapsed_time(last) for first, last in events)
        spent = time.perf_counter() - begun
        enough = len(samples) >= _MIN_SAMPLES or (len(dropped) >= _MIN_SAMPLES and spent > 2 * seconds)
        if spent > seconds and (enough or spent > 5 * seconds):
            break
    result = _summary(samples or dropped)
    result["throttled_samples"] = len(dropped)
    return result
