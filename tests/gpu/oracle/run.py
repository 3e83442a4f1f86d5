#!/usr/bin/env python3
"""The oracle on a GPU: its passes, its process, and what a whole verdict costs it. About a minute; needs PyTorch with
CUDA and nothing else.

    python3 tests/gpu/oracle/run.py [startup] [passes] [intake] [verdicts] [memory] [baselines]

Without arguments: everything but startup, which tells where a fresh process's first seconds go.

Exit status 0 where every check passed.
"""

import sys
import time
import traceback

import harness
from harness import Oracle, Lines, check, descriptions, problem_source, row

SETTINGS = {}
MATMUL = ("problems", "headline", "matmul_4096.py")
SOFTMAX = ("problems", "headline", "softmax_4096_65536.py")
LAYER_NORM = ("problems", "headline", "layer_norm_16_64_256_256.py")
CONVOLUTION = ("problems", "headline", "conv2d_11x11.py")
LINEAR = ("gpu_worker", "reference", "problems", "small_linear.py")
SEED = 100
SIGNATURES = {}


class Processes:
    """One oracle and one candidate for all parts; new ones after one has ended."""

    oracle = candidate = None

    @classmethod
    def get(cls):
        if cls.oracle is None or cls.oracle.process.poll() is not None:
            cls.oracle = Oracle()
            cls.candidate = Lines(harness.os.path.join(harness.HERE, "candidate.py"))
            start = time.perf_counter()
            reply, _ = cls.oracle.ask("hello")
            row("oracle process: import, context, rehearsal", time.perf_counter() - start, "s")
            check("the rehearsal went well", not reply["warm_up"] and not reply["not_fused"], reply)
        return cls.oracle, cls.candidate

    @classmethod
    def close(cls):
        for process in (cls.candidate, cls.oracle):
            if process is not None:
                process.close()


def taken_in(path):
    """A problem's signature; kept."""
    if path not in SIGNATURES:
        oracle, _ = Processes.get()
        oracle.ask("drop_buffers")
        reply, taken = oracle.ask("intake", name=path[-1][:-3], source=problem_source(*path), settings=SETTINGS,
                                  harness_revision="test")
        SIGNATURES[path] = reply["signature"], reply["baselines"][0], reply["seconds"], taken / 1e3
    return SIGNATURES[path][0]


def intake():
    names = [SOFTMAX, LAYER_NORM, MATMUL, CONVOLUTION, LINEAR] + [
        ("problems", name + ".py") for name in ("batch_norm", "two_outputs")] + [
        ("gpu_worker", "reference", "problems", name + ".py")
        for name in ("argmax", "hidden", "mixed_types", "strided")]
    for path in names:
        try:
            signature = taken_in(path)
        except RuntimeError as error:
            check(f"intake {path[-1]}", False, error)
            continue
        _, baseline, stages, _ = SIGNATURES[path]
        timed = stages.pop("baseline")
        # Of a process's first problem only: what the process itself takes to start.
        started = stages.pop("import", 0) + stages.pop("warm-up", 0)
        seconds = sum(stages.values())
        check(f"intake {path[-1]} in 2 s", seconds <= 2 and "median_ms" in baseline,
              f"{seconds:.2f} s ({', '.join(f'{name} {value:.2f}' for name, value in stages.items())}), baseline "
              f"{timed:.1f} s, start of the process {started:.1f} s; {len(signature['distributions'])} distributions, eager "
              f"{baseline.get('median_ms', 0):.4f} ms, {baseline.get('precision_class', baseline)[16:]}")
        row(f"intake {path[-1]}", seconds, "s", f"eager {baseline.get('median_ms', 0):.4f} ms")


def load(oracle, path):
    signature = taken_in(path)
    _, taken = oracle.ask("load", problem_id=path[-1], name=path[-1][:-3], source=problem_source(*path),
                          settings=SETTINGS, signature=signature)
    return signature, taken


def one_candidate(oracle, candidate, signature, operator, scratch_bytes=1 << 20):
    """Milliseconds of the oracle's part by command, over nine or so trials; and the number of them."""
    spent = {"prepare": 0.0, "begin_trial": 0.0, "judge": 0.0, "release": 0.0}
    buffers, shapes = descriptions(signature, scratch_bytes)
    trials = ["plain"] * 5 + [name for name in signature["distributions"] if name != "plain"]
    reply, spent["prepare"] = oracle.ask("prepare", directory="", buffers=buffers, slots=len(trials) + 2)
    candidate.call({"open": reply["slots"], "shapes": shapes})
    slots = len(reply["slots"])
    for number, distribution in enumerate(trials):
        slot = number % slots
        _, taken = oracle.ask("begin_trial", slot=slot, seed=SEED + number, distribution=distribution,
                              poison=number % 2, scratch_fill="large" if number % 2 else "poison")
        spent["begin_trial"] += taken
        candidate.call({"run": slot, "operator": operator})
        report, taken = oracle.ask("judge", slot=slot, accepted=["PRECISION_CLASS_FP32"], launch="trial")
        spent["judge"] += taken
        if report["outcome"] != "OUTCOME_OK":
            check(f"{operator} on {distribution}", False, report)
    _, spent["release"] = oracle.ask("release")
    return spent, len(trials), slots


def verdicts():
    for path, operator in ((SOFTMAX, "softmax"), (LAYER_NORM, "layer_norm"), (MATMUL, "matmul"), (LINEAR, "linear")):
        name = path[-1][:-3]
        try:
            oracle, candidate = Processes.get()
            signature, loading = load(oracle, path)
            first, trials, slots = one_candidate(oracle, candidate, signature, operator)
            again = [one_candidate(oracle, candidate, signature, operator)[0] for _ in range(3)]
            best = sorted(again, key=lambda spent: sum(spent.values()))[1]
            total = sum(best.values())
            check(f"{name}: the oracle's part of a verdict", total <= 15 * trials,
                  f"{total:.1f} ms for {trials} trials in {slots} slots: " +
                  ", ".join(f"{key} {value:.1f}" for key, value in best.items()))
            row(f"{name}: load", loading, "ms")
            row(f"{name}: first candidate, inputs and answers made", sum(first.values()), "ms", f"{trials} trials")
            row(f"{name}: next candidate", total, "ms", f"{total / trials:.2f} ms a trial, {slots} slots")
            hostile(oracle, candidate, signature, operator, name)
            _, taken = oracle.ask("quiesce")
            row(f"{name}: quiesce", taken, "ms")
            time_, _ = oracle.ask("time_reference", seconds=0.2)
            row(f"{name}: eager again", time_["median_ms"], "ms", f"{time_['samples']} samples, spread "
                f"{time_['spread'] * 100:.2f} %")
        except RuntimeError as error:
            check(f"{name}: verdict", False, error)


def hostile(oracle, candidate, signature, operator, name):
    """What another process does to the buffers is seen."""
    buffers, shapes = descriptions(signature)
    reply, _ = oracle.ask("prepare", directory="", buffers=buffers, slots=2)
    candidate.call({"open": reply["slots"], "shapes": shapes})
    output = len(buffers) - 1
    for what, poke, outcome in (
            ("nothing written", None, "UNWRITTEN_OUTPUT"), ("a guard", [0, output, -1], "OUT_OF_BOUNDS"),
            ("behind the end", [0, 0, buffers[0]["bytes"]], "OUT_OF_BOUNDS"),
            ("an input", [0, 0, 4096], "INPUT_MODIFIED"),
            ("one element four times as large or small", [0, output, 3], "WRONG_OUTPUT")):
        oracle.ask("begin_trial", slot=0, seed=SEED, distribution="plain", poison=0, scratch_fill="poison")
        if poke:
            candidate.call({"run": 0, "operator": operator})
            candidate.call({"poke": poke})
        report, _ = oracle.ask("judge", slot=0, accepted=["PRECISION_CLASS_FP32"], launch="trial")
        check(f"{name}: {what}", report["outcome"] == "OUTCOME_" + outcome,
              f"{report['outcome']} {report['message'][:110]}")
    oracle.ask("begin_trial", slot=0, seed=SEED, distribution="plain", poison=0, scratch_fill="poison")
    candidate.call({"run": 0, "operator": operator})
    report, _ = oracle.ask("judge", slot=0, accepted=["PRECISION_CLASS_FP32"], launch="trial")
    check(f"{name}: right again after that", report["outcome"] == "OUTCOME_OK", report["message"])
    oracle.ask("release")


def memory():
    """Nothing leaks over candidates."""
    import torch
    try:
        oracle, candidate = Processes.get()
        signature, _ = load(oracle, LINEAR)
        one_candidate(oracle, candidate, signature, "linear")
        oracle.ask("quiesce")
        candidate.call({"open": [], "shapes": []})
        before, _ = torch.cuda.mem_get_info(0)
        buffers, _ = descriptions(signature, 40 << 20)
        start = time.perf_counter()
        for number in range(200):
            oracle.ask("prepare", directory="", buffers=buffers, slots=8)
            for slot in range(2):
                oracle.ask("begin_trial", slot=slot, seed=number // 50 * 10 + slot, distribution="plain", poison=slot,
                           scratch_fill="large")
                oracle.ask("judge", slot=slot, accepted=[], launch="trial")
            oracle.ask("release")
        seconds = time.perf_counter() - start
        oracle.ask("quiesce")
        after, _ = torch.cuda.mem_get_info(0)
        check("memory is flat over 200 candidates", before - after <= 64 << 20,
              f"{(before - after) / (1 << 20):.0f} MiB more, {seconds / 200 * 1e3:.1f} ms a candidate of two trials")
        row("small problem: prepare, two trials, release", seconds / 200 * 1e3, "ms")
    except RuntimeError as error:
        check("memory", False, error)


def baselines():
    for path, names in ((SOFTMAX, ("eager", "eager_tf32_off", "eager_graph", "compile_default",
                                   "compile_max_autotune", "library")),
                        (MATMUL, ("eager", "eager_graph", "library")),
                        (CONVOLUTION, ("eager", "eager_tf32_off", "library"))):
        try:
            oracle, _ = Processes.get()
            oracle.ask("drop_buffers")
            for name in names:
                reply, taken = oracle.ask("baseline", name=path[-1][:-3], source=problem_source(*path),
                                          settings=SETTINGS, harness_revision="test", baseline=name, seconds=0.3)
                found = reply["baseline"]
                may_lack = name in ("library", "compile_default", "compile_max_autotune", "eager_graph")
                figures = (f"{found['median_ms']:.4f} ms, spread {found['spread'] * 100:.2f} %, {found['samples']} "
                           f"samples, {found['precision_class'][-4:]}, driver {found['driver']}, "
                           f"{found['power_limit_w']:.0f} W"
                           if "median_ms" in found else found["skipped_reason"])
                check(f"baseline {name} of {path[-1][:-3]}", "median_ms" in found or may_lack,
                      f"{figures}; {taken / 1e3:.1f} s")
                if "median_ms" in found:
                    row(f"{path[-1][:-3]}: {name}", found["median_ms"], "ms", found["precision_class"][16:])
        except RuntimeError as error:
            check(f"baselines of {path[-1]}", False, error)


def passes():
    import passes as part
    part.main()


def startup():
    ended = harness.subprocess.run([sys.executable, harness.os.path.join(harness.HERE, "startup.py")],
                                    env=harness.environment(), capture_output=True, text=True, timeout=60)
    print(ended.stdout + ended.stderr, end="")
    check("startup", ended.returncode == 0)


PARTS = {"passes": passes, "intake": intake, "verdicts": verdicts, "memory": memory, "baselines": baselines}


def main():
    import torch
    if not torch.cuda.is_available():
        print("no GPU for PyTorch here", file=sys.stderr)
        return 2
    print(torch.cuda.get_device_name(0), "PyTorch", torch.__version__)
    for name in sys.argv[1:] or PARTS:
        start = time.perf_counter()
        try:
            {**PARTS, "startup": startup}[name]()
        except Exception:  # the other parts go on
            check(name, False, traceback.format_exc())
        print(f"-- {name}: {time.perf_counter() - start:.1f} s", flush=True)
    Processes.close()
    harness.print_table()
    return 1 if harness.FAILED else 0


if __name__ == "__main__":
    sys.exit(main())
