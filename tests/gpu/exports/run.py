#!/usr/bin/env python3
"""Exported kernels on a GPU, in PyTorch alone: the same output as the module with the same seed, the same time as
warpsmith measured (within 3 %), inside a CUDA graph, under torch.compile, as a plain program of nvcc. About a minute.

    run.py [--only NAME...] [--seconds 85]
"""

import argparse
import importlib.util
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "benchmarks"))

import batch  # noqa: E402
import candidates  # noqa: E402

# Problem, candidate (a workload of benchmarks/candidates.py, or a file), classes to accept, tolerance of KernelBench.
CASES = [
    ("headline/softmax_4096_65536", "softmax", "fp32", 1e-4),
    ("headline/layer_norm_16_64_256_256", "layer_norm", "fp32", 1e-4),
    ("headline/matmul_4096", "tests/gpu/headline/matmul_4096.cu", "fp32", 1e-2),
    ("headline/conv2d_relu_max_pool", "tests/gpu/headline/conv2d_relu_max_pool.cu", "fp32,tf32", 1e-2),
    ("headline/attention_fp16", "tests/gpu/headline/attention_fp16.cu", "fp32,tf32,bf16", 1e-2),
    ("gpu/relu_64m", "tests/corpus/gpu/honest/relu_tma_tiles.cu", "fp32", 1e-4),
    ("gpu/softmax_2048_8192", "tests/corpus/gpu/honest/softmax_cluster.cu", "fp32", 1e-4),
]
ALLOWED = 0.03
SAMPLES = 60
SEED = 42


def say(good, text):
    print(f"{'ok    ' if good else 'FAILED'} {text}", flush=True)
    return good


def load(path, name):
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def export(problem, candidate, accepted, form, folder):
    file = ROOT / candidate if candidate.endswith(".cu") else candidates.write(candidate, 1, str(folder))[0]
    out = folder / form
    command = [batch.program(), "export", str(file), "--module", str(ROOT / "tests/problems" / (problem + ".py")),
               "--format", form, "-o", str(out), "--accept", accepted, "--json", "--device",
               os.environ.get("WARPSMITH_GPU", "0")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=80)
    try:
        told = json.loads(done.stdout)
        return out / told["problems"][0]["file"], out
    except (ValueError, KeyError, IndexError):
        said = " ".join((done.stdout + done.stderr).split())[-400:]
        raise RuntimeError(f"status {done.returncode}: {said}") from None


def cold_ms(run):
    """Median of runs with a cold L2, on the GPU's own clock: the CPU is ahead when the first event is reached."""
    import torch
    flush = torch.empty(1 << 28, dtype=torch.uint8, device="cuda")
    events = [(torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)) for _ in range(SAMPLES)]
    for _ in range(5):
        run()
    for start, end in events:
        flush.zero_()
        torch.cuda._sleep(400000)
        start.record()
        run()
        end.record()
    torch.cuda.synchronize()
    return statistics.median(start.elapsed_time(end) for start, end in events)


def check_model(name, file, results, tolerance):
    """KernelBench's own way: the candidate in the reference's globals, both seeded before they are made."""
    import torch
    context = {}
    exec((ROOT / "tests/problems" / (name + ".py")).read_text(), context)
    reference = context["Model"]
    exec(file.read_text(), context)
    torch.manual_seed(SEED)
    arguments = [value.cuda() if isinstance(value, torch.Tensor) else value for value in context["get_inputs"]()]
    initial = context["get_init_inputs"]()
    torch.manual_seed(SEED)
    model = reference(*initial).cuda()
    torch.manual_seed(SEED)
    new = context["ModelNew"](*initial).cuda()
    with torch.no_grad():
        wanted = model(*arguments)
        got = new(*arguments)
        good = got.shape == wanted.shape and torch.allclose(got, wanted, atol=tolerance, rtol=tolerance)
        worst = (got.double() - wanted.double()).abs().max().item()
        good = say(good, f"{name}: output as the module's (largest difference {worst:.2e}, tolerance {tolerance})")
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            new(*arguments)
        stream.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            captured = new(*arguments)
        captured.zero_()
        graph.replay()
        torch.cuda.synchronize()
        good = say(torch.equal(captured, got) or torch.allclose(captured, got, atol=tolerance, rtol=tolerance),
                   f"{name}: in a CUDA graph, on another stream") and good
        ours = results["metadata"]["warpsmith"]["median_ms"]
        theirs = cold_ms(lambda: new(*arguments))
        eager = cold_ms(lambda: model(*arguments))
    library = "_WarpsmithExactness" in file.read_text()
    near = abs(theirs / ours - 1) <= ALLOWED or library
    return say(near, f"{name}: {theirs:.4f} ms, {ours:.4f} ms by warpsmith ({100 * (theirs / ours - 1):+.1f} %, "
               f"{'library steps: not compared' if library else f'{100 * ALLOWED:.0f} % allowed'}), eager {eager:.4f} "
               "ms") and good


def check_operator(name, file):
    import torch
    problem = load(ROOT / "tests/problems" / (name + ".py"), "problem")
    module = load(file, "exported_operator")
    model = module.Module(*problem.get_init_inputs()).cuda()
    arguments = [value.cuda() for value in problem.get_inputs()]
    with torch.no_grad():
        wanted = model(*arguments)
        got = torch.compile(model, fullgraph=True)(*arguments)
    return say(torch.equal(got, wanted), f"{name}: torch.compile keeps the operator whole")


def check_program(name, file):
    import torch
    compiler = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
    if not os.path.exists(compiler):
        print(f"  {name}: no nvcc here, the plain program was not built")
        return True
    architecture = "sm_%d%d" % torch.cuda.get_device_capability()
    program = str(file)[:-3]
    built = subprocess.run([compiler, "-std=c++17", "-O3", "-arch=" + architecture, str(file), "-o", program],
                           capture_output=True, text=True, timeout=80)
    if built.returncode != 0:
        return say(False, f"{name}: nvcc: {' '.join(built.stderr.split())[:400]}")
    done = subprocess.run([program], capture_output=True, text=True, timeout=30)
    said = (done.stdout + done.stderr).strip()[:200]
    return say(done.returncode == 0 and " ms a run" in done.stdout, f"{name}: {said}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", default=[], help="of these problems")
    parser.add_argument("--seconds", type=float, default=85, help="for all of it")
    options = parser.parse_args()
    os.environ.setdefault("CUDA_VISIBLE_DEVICES", os.environ.get("WARPSMITH_GPU", "0"))
    import torch
    start, failures = time.monotonic(), 0
    for number, (name, candidate, accepted, tolerance) in enumerate(CASES):
        if options.only and name.split("/")[1] not in options.only:
            continue
        if time.monotonic() - start > options.seconds - 10:
            failures += not say(False, f"{name}: no time was left")
            continue
        with tempfile.TemporaryDirectory(prefix="warpsmith-exports-") as folder:
            folder = pathlib.Path(folder)
            try:
                file, out = export(name, candidate, accepted, "kernelbench", folder)
                results = json.loads((out / "eval_results.json").read_text())
                failures += not check_model(name, file, next(iter(results.values()))[0], tolerance)
                if number == 1:
                    failures += not check_operator(name, export(name, candidate, accepted, "pytorch", folder)[0])
                    failures += not check_program(name, export(name, candidate, accepted, "cu", folder)[0])
            except Exception as error:  # one that fails does not hide the others
                failures += not say(False, f"{name}: {type(error).__name__}: {str(error)[:500]}")
        torch.cuda.empty_cache()
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
