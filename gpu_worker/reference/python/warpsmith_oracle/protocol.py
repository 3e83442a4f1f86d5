"""JSON lines on standard input and output: one request a line, one reply a line.

Request: {"command": ..., ...}. Reply: {"ok": true, ...} or {"error": true, "kind": ..., "message": ...}. Before a reply
there may be lines {"progress": stage}, so that the caller can say what was running when it gave up. A problem's own
prints, and whatever it reads from standard input, go to /dev/null: the two pipes are moved away before anything is
imported.
"""

import argparse
import gc
import inspect
import json
import os
import resource
import sys
import tempfile
import time
import traceback

COMMANDS = {}


def command(function):
    COMMANDS[function.__name__] = function
    return function


def parse(line):
    """A request's function and arguments; (None, None) for the end."""
    from warpsmith_oracle.errors import OracleError
    try:
        request = json.loads(line)
    except ValueError as error:
        raise OracleError("request", f"a request is one line of JSON: {error}") from error
    if not isinstance(request, dict) or not isinstance(request.get("command"), str):
        raise OracleError("request", "a request is a JSON object with a command")
    name = request.pop("command")
    if name == "quit":
        return None, None
    if name not in COMMANDS:
        raise OracleError("request", f"unknown command {name!r}; there are {', '.join(sorted(COMMANDS))}")
    try:
        inspect.signature(COMMANDS[name]).bind(None, **request)
    except TypeError as error:
        raise OracleError("request", f"{name}: {error}") from error
    return COMMANDS[name], request


class Channel:
    """The protocol's own descriptors."""

    def __init__(self):
        self._reader = os.fdopen(os.dup(0), "r", encoding="utf-8", newline="\n")
        self._writer = os.fdopen(os.dup(1), "w", encoding="utf-8", newline="\n")
        null = os.open(os.devnull, os.O_RDWR)
        os.dup2(null, 0)
        os.dup2(null, 1)
        os.close(null)

    def read(self):
        return self._reader.readline()

    def write(self, message):
        self._writer.write(json.dumps(message, allow_nan=False) + "\n")
        self._writer.flush()


class Server:
    """State between requests: one problem, one candidate's buffers."""

    exit_status = 0

    def __init__(self, channel, arguments):
        self.channel = channel
        self.device = "cuda:0" if arguments.device == "cuda" else arguments.device
        self.reserve_bytes = arguments.reserve_bytes
        self.cache_bytes = max(arguments.memory_bytes // 4, 64 << 20) if arguments.memory_bytes else 1 << 30
        self.problem = None
        self.problem_id = ""
        self.signature = None
        self.trials = None
        self.prepared = False  # whether a candidate's buffers are there
        self.rehearsed = self.device == "cpu"
        self.warm_up = ""      # what went wrong while warming up; the first problem will tell it again
        self.timings = arguments.timings
        self.startup = {}      # seconds before the first request, by stage
        self.suite = None      # baselines.Suite and the problem's source that it is of

    def stage(self, name):
        self.channel.write({"progress": name})

    def serve(self):
        while True:
            line = self.channel.read()
            if not line:
                return 0
            reply = self._answer(line)
            if reply is None:
                return 0
            self.channel.write(reply)
            if "error" in reply and self._device_lost():
                return 3  # a fresh process can go on, this one cannot

    def _device_lost(self):
        from warpsmith_oracle import device as devices
        return devices.lost(self.device)

    def _answer(self, line):
        from warpsmith_oracle.errors import OracleError, is_memory_error
        try:
            function, arguments = parse(line)
            if function is None:
                return None
            return {"ok": True, **(function(self, **arguments) or {})}
        except OracleError as error:
            return {"error": True, "kind": error.kind, "message": error.message}
        except Exception as error:  # the process must answer whatever happens
            if is_memory_error(error):
                return {"error": True, "kind": "memory",
                        "message": "the oracle ran out of memory; make the problem smaller or give it more memory"}
            frames = traceback.extract_tb(error.__traceback__)
            where = f"{os.path.basename(frames[-1].filename)}:{frames[-1].lineno}" if frames else "?"
            message = f"{type(error).__name__} at {where}: {str(error)[:400]}"
            return {"error": True, "kind": "internal", "message": message}

    def need_problem(self):
        from warpsmith_oracle.errors import OracleError
        if self.problem is None:
            raise OracleError("order", "no problem is loaded; load one first")
        return self.problem

    def need_trials(self):
        from warpsmith_oracle.errors import OracleError
        if self.trials is None or not self.prepared:
            raise OracleError("order", "no buffers are prepared; prepare a candidate's first")
        return self.trials

    def rehearse(self):
        """The first use of everything on a GPU, once. Until somebody greets it the process leaves the GPU alone: one
        that only waits must not disturb what is timed there."""
        if self.rehearsed:
            return
        from warpsmith_oracle import warm
        self.rehearsed = True
        start = time.perf_counter()
        self.warm_up = warm.rehearse(self.device)
        self.startup["warm-up"] = round(time.perf_counter() - start, 4)

    def drop_trials(self):
        self.prepared = False
        if self.trials is not None:
            self.trials.close()
            self.trials = None


@command
def hello(server):
    import torch

    from warpsmith_oracle import kernels
    server.rehearse()
    return {"pytorch": torch.__version__, "threads": torch.get_num_threads(), "warm_up": server.warm_up,
            "not_fused": kernels.why_not(server.device)}


@command
def intake(server, name, source, settings, harness_revision):
    from warpsmith_oracle import timings
    from warpsmith_oracle.intake import take_in
    result = take_in(name, source, settings, server.stage, server.device, harness_revision)
    result["seconds"] = {**server.startup, **result["seconds"]}
    server.startup = {}
    if server.timings:
        print(timings.table(name, result["seconds"]), file=sys.stderr, flush=True)
    return result


@command
def baseline(server, name, source, settings, harness_revision, baseline, seconds=1.0):
    """One of baselines.py's; the problem stays loaded for the next one."""
    from warpsmith_oracle import baselines, device as devices
    from warpsmith_oracle.errors import OracleError
    from warpsmith_oracle.reference import Problem
    if not devices.is_cuda(server.device):
        raise OracleError("request", "baselines beside eager are timed on a GPU only")
    if server.suite is None or server.suite[0] != (source, settings):
        problem = Problem(name, source, settings, server.stage, server.device)
        server.suite = (source, settings), baselines.Suite(problem, harness_revision, seconds)
    server.stage("timing")
    return {"baseline": server.suite[1].take(baseline)}


@command
def load(server, problem_id, name, source, settings, signature):
    from warpsmith_oracle import device as devices
    from warpsmith_oracle.errors import OracleError
    from warpsmith_oracle.reference import Problem
    unload(server)
    on_gpu = devices.is_cuda(server.device)
    least = int(signature.get("bytes_min", 0))
    if on_gpu and least > devices.free_bytes(server.device):
        free = devices.gib(devices.free_bytes(server.device))
        raise OracleError("memory", f"{name}.py takes at least {devices.gib(least)} of the GPU's memory, and {free} of "
                                    f"{devices.name(server.device)} are free; evaluate it on a GPU with more memory, "
                                    "or make its sizes smaller")
    problem = Problem(name, source, settings, server.stage, server.device, server.cache_bytes)
    signature["tensors"] = [_complete(entry) for entry in signature.get("tensors", ())]
    problem.specs = {entry["name"]: entry for entry in signature["tensors"]}
    server.problem, server.problem_id, server.signature = problem, problem_id, signature
    if on_gpu:
        problem.measure()
    else:
        problem.case(0, "plain")  # a problem that no longer fits its signature is refused here


def _complete(entry):
    """A tensor specification with the fields that protobuf's JSON leaves out, and integers that it writes as
    strings."""
    entry.setdefault("role", "TENSOR_ROLE_UNSPECIFIED")
    for field in ("shape", "strides"):
        entry[field] = [int(value) for value in entry.get(field, ())]
    entry["storage_bytes"] = int(entry.get("storage_bytes", 0))
    return entry


@command
def unload(server):
    server.drop_trials()
    if server.problem is not None:
        server.problem.close()
    server.problem, server.problem_id, server.signature = None, "", None


@command
def prepare(server, directory, buffers, slots):
    """At least one slot and at most `slots`: as many as memory allows."""
    from warpsmith_oracle.trial import Trials
    problem = server.need_problem()
    server.prepared = False
    if server.trials is None or not server.trials.renew(buffers, slots):
        server.drop_trials()
        server.trials = Trials(problem, server.signature, directory, buffers, slots, server.reserve_bytes)
    server.prepared = True
    return {"slots": server.trials.places()}


@command
def begin_trial(server, slot, seed, distribution, poison, scratch_fill):
    server.need_trials().begin(slot, seed, distribution, poison, scratch_fill == "large")


@command
def unwritten(server, slots):
    return {"output": server.need_trials().unwritten(slots)}


@command
def judge(server, slot, accepted, launch):
    return server.need_trials().judge(slot, accepted, launch == "timed")


@command
def time_reference(server, seconds):
    from warpsmith_oracle import device as devices, timing
    problem = server.need_problem()
    if devices.is_cuda(problem.device):
        devices.pytorch_defaults()
        try:
            return timing.eager(problem, problem.draw_case(0, "plain"), seconds)
        finally:
            devices.true_float32()
            devices.empty_cache(problem.device)
    return timing.eager(problem, problem.case(0, "plain"), seconds)


@command
def quiesce(server):
    """Before something is timed: the device has nothing to do, and memory that PyTorch does not need is free."""
    from warpsmith_oracle import device as devices
    devices.synchronize(server.device)
    devices.empty_cache(server.device)


@command
def release(server):
    """The candidate is done. Beside a CPU its buffers go; on a GPU inputs and answers stay for the next one."""
    if server.trials is not None and server.trials.end_candidate():
        server.prepared = False
    else:
        server.drop_trials()


@command
def drop_buffers(server):
    """Frees all that is kept for further candidates: another process is to have the memory."""
    server.drop_trials()
    gc.collect()
    quiesce(server)


def _limit_memory(memory_bytes):
    """Address space beyond what an idle PyTorch process has, so that a greedy problem gets an exception of its own."""
    with open("/proc/self/statm", encoding="ascii") as file:
        pages = int(file.read().split()[0])
    limit = pages * resource.getpagesize() + memory_bytes
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def main(arguments):
    parser = argparse.ArgumentParser(prog="warpsmith_oracle")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--memory-bytes", type=int, default=0)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--reserve-bytes", type=int, default=5 << 30)
    parser.add_argument("--timings", action="store_true", help="a line on standard error for each intake")
    options = parser.parse_args(arguments)
    channel = Channel()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    start = time.perf_counter()
    import torch
    import_seconds = time.perf_counter() - start
    torch.set_num_threads(options.threads)
    gc.collect()
    gc.freeze()  # PyTorch's hundred thousand objects need not be looked at again: a pass over them takes a while
    if options.memory_bytes and options.device == "cpu":
        _limit_memory(options.memory_bytes)
    # What a problem leaves behind goes with the process's own folder.
    with tempfile.TemporaryDirectory(prefix="warpsmith-oracle-") as folder:
        os.chdir(folder)
        tempfile.tempdir = folder
        server = Server(channel, options)
        server.startup["import"] = round(import_seconds, 4)
        status = server.serve()
        unload(server)
        os.chdir("/")
    sys.stderr.flush()
    return status
