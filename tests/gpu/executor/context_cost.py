#!/usr/bin/env python3
"""What a CUDA context costs a fresh process, by what the driver is told: milliseconds of each step, alone and four at once.

    context_cost.py [--times 7]

Each process times cuInit, cuCtxCreate, the first allocation and its own end; the figures are medians. An executor is such a
process, so this bounds how many candidates an hour a GPU can judge. WARPSMITH_GPU is the number of the GPU.
"""

import argparse
import ctypes
import json
import os
import statistics
import subprocess
import sys
import time

SETTINGS = {
    "usual": {},
    "lazy modules": {"CUDA_MODULE_LOADING": "LAZY"},
    "one queue": {"CUDA_DEVICE_MAX_CONNECTIONS": "1"},
    "one queue, one copy queue": {"CUDA_DEVICE_MAX_CONNECTIONS": "1", "CUDA_DEVICE_MAX_COPY_CONNECTIONS": "1"},
    "quarter launch queue": {"CUDA_SCALE_LAUNCH_QUEUES": "0.25x"},
    "all of these": {"CUDA_MODULE_LOADING": "LAZY", "CUDA_DEVICE_MAX_CONNECTIONS": "1",
                     "CUDA_DEVICE_MAX_COPY_CONNECTIONS": "1", "CUDA_SCALE_LAUNCH_QUEUES": "0.25x"},
}


def one_process():
    driver = ctypes.CDLL("libcuda.so.1")
    figures, clock = {}, time.perf_counter

    def step(name, call):
        begin = clock()
        status = call()
        figures[name] = 1000 * (clock() - begin)
        if status != 0:
            sys.exit(f"{name}: CUDA error {status}")

    context, device, memory = ctypes.c_void_p(), ctypes.c_int(), ctypes.c_uint64()
    step("init", lambda: driver.cuInit(0))
    driver.cuDeviceGet(ctypes.byref(device), 0)
    step("create", lambda: driver.cuCtxCreate_v2(ctypes.byref(context), 0, device))
    step("allocate", lambda: driver.cuMemAlloc_v2(ctypes.byref(memory), ctypes.c_size_t(2 << 20)))
    figures["ended"] = time.time()
    print(json.dumps(figures), flush=True)


def measure(environment, at_once, times):
    rows, started = [], time.time()
    for _ in range(times):
        children = [subprocess.Popen([sys.executable, "-S", __file__, "--one"], env={**os.environ, **environment},
                                     stdout=subprocess.PIPE, text=True) for _ in range(at_once)]
        for child in children:
            said = child.communicate(timeout=60)[0]
            if child.returncode != 0:
                return None
            rows.append(json.loads(said))
            rows[-1]["exit"] = 1000 * (time.time() - rows[-1].pop("ended"))
    each = 1000 * (time.time() - started) / len(rows)
    return {**{key: statistics.median(row[key] for row in rows) for key in rows[0]}, "each": each}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--times", type=int, default=7)
    parser.add_argument("--one", action="store_true", help="be one of the processes")
    options = parser.parse_args()
    if options.one:
        return one_process()
    os.environ["CUDA_VISIBLE_DEVICES"] = os.environ.get("WARPSMITH_GPU", "0")
    bad = 0
    for title, environment in SETTINGS.items():
        for at_once in (1, 4):
            row = measure(environment, at_once, options.times)
            bad += row is None
            print(f"{'ok    ' if row else 'FAILED'} {title}, {at_once} at once: "
                  + (" ".join(f"{key} {value:.0f}" for key, value in row.items()) + " ms" if row else "no context"), flush=True)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
