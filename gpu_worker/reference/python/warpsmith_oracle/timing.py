"""The module's eager time on this device.

PyTorch is held to one thread while it is timed: the emulated device is one thread, so that a candidate's time on it and
the module's can be set beside each other; both are processor time, since neither has a core to itself. Samples are single runs on one set of inputs, after warm-up, without
gradients; their number follows the time at hand, so that short modules get enough of them for a steady median.
"""

import copy
import statistics
import time

import torch

_MAX_SAMPLES = 20000
_MIN_SAMPLES = 5
_WARM_UP_SHARE = 0.2


def quartile_spread(samples):
    ordered = sorted(samples)
    last = len(ordered) - 1
    return (ordered[(3 * last + 2) // 4] - ordered[last // 4]) / max(statistics.median(ordered), 1e-12)


def eager(problem, case, seconds):
    """{median_ms, spread, samples}: as many samples as fit into about `seconds`, at least a few unless one takes
    longer."""
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
        return {"median_ms": statistics.median(samples), "spread": quartile_spread(samples), "samples": len(samples)}
    finally:
        torch.set_num_threads(threads)
