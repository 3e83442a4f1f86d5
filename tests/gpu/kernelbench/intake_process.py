"""Takes in many problem files quickly, each in a real oracle process of its own.

PyTorch is imported once, here; each file then gets a child by fork, which runs warpsmith_oracle's own main() on two
pipes and speaks its JSON lines. So a file that crashes, hangs or changes PyTorch harms itself only, and what a process
costs is a fork (and a CUDA context, where there is a GPU) instead of an import. Nothing here may touch CUDA or start a
thread before the forks.

One thread. Times are seconds of wall time.
"""

import collections
import json
import os
import selectors
import signal
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
PACKAGE = os.environ.get("WARPSMITH_ORACLE_PACKAGE", os.path.join(SOURCE, "gpu_worker", "reference", "python"))
if PACKAGE not in sys.path:
    sys.path.insert(0, PACKAGE)

import torch  # noqa: E402

from warpsmith_oracle import intake, protocol, timings  # noqa: E402

# reply: the oracle's, or {"error": true, "kind": "crash" or "timeout", "message": ...}. seconds: until the baseline is
# timed, or until the reply; on a GPU from when the process is warm, as the one is that a worker keeps for its next
# intake. stages: (name, seconds at which it began).
Taken = collections.namedtuple("Taken", "job reply seconds stages")
# A file to take in: key names it to the caller.
Job = collections.namedtuple("Job", "key name source settings")


def _child(reader, writer, device, memory_bytes, baseline_seconds):
    """Never returns."""
    status = 1
    try:
        os.dup2(reader, 0)
        os.dup2(writer, 1)
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 2)
        os.closerange(3, 256)
        if baseline_seconds and hasattr(intake, "_BASELINE_SECONDS"):
            intake._BASELINE_SECONDS = baseline_seconds
        status = protocol.main(["--device", device, "--memory-bytes", str(memory_bytes), "--threads", "1"])
    finally:
        os._exit(status or 0)


class _Run:
    """One child and what it has said so far."""

    def __init__(self, job, device, memory_bytes, baseline_seconds, deadline):
        to_child, from_parent = os.pipe()
        from_child, to_parent = os.pipe()
        self.job, self.stages, self.reply = job, [], None
        self.warming = device != "cpu"
        self.start = time.monotonic()
        self.deadline = self.start + deadline
        self.pid = os.fork()
        if self.pid == 0:
            os.close(from_parent)
            os.close(from_child)
            _child(to_child, to_parent, device, memory_bytes, baseline_seconds)
        os.close(to_child)
        os.close(to_parent)
        self.output, self._buffer = from_child, b""
        request = {"command": "intake", "name": job.name, "source": job.source, "settings": job.settings,
                   "harness_revision": "intake"}
        # A source that is longer than a pipe holds is read by the child while it is written here.
        with os.fdopen(from_parent, "w", encoding="utf-8") as stream:
            try:
                if self.warming:
                    stream.write(json.dumps({"command": "hello"}) + "\n")
                stream.write(json.dumps(request) + "\n")
            except BrokenPipeError:
                pass

    def read(self):
        """Takes what is there; True at the end."""
        data = os.read(self.output, 1 << 16)
        self._buffer += data
        *lines, self._buffer = self._buffer.split(b"\n")
        for line in lines:
            message = json.loads(line)
            if self.warming and "pytorch" in message:
                self.warming, self.start = False, time.monotonic()
            elif "progress" in message:
                self.stages.append((message["progress"], time.monotonic() - self.start))
            else:
                self.reply = message
                return True
        return not data

    def end(self, timed_out):
        """Ends the child, and gives what came of it."""
        seconds = time.monotonic() - self.start
        os.close(self.output)
        if self.reply is None and timed_out:
            os.kill(self.pid, signal.SIGKILL)
        _, status = os.waitpid(self.pid, 0)
        stage = self.stages[-1][0] if self.stages else "the start"
        if self.reply is None and timed_out:
            message = f"{self.job.name}.py: no end of {stage} after {seconds:.0f} s"
            self.reply = {"error": True, "kind": "timeout", "message": message}
        elif self.reply is None:
            how = f"signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else f"status {os.WEXITSTATUS(status)}"
            message = f"{self.job.name}.py: {stage} ended the process ({how})"
            self.reply = {"error": True, "kind": "crash", "message": message}
        timing = next((begun for name, begun in self.stages if name == "timing"), seconds)
        return Taken(self.job, self.reply, timing, self.stages)


def take_in_all(jobs, device="cpu", at_once=1, deadline=60.0, memory_bytes=0, baseline_seconds=0.02):
    """Yields a Taken for each job, in the order in which they end."""
    waiting, running = collections.deque(jobs), {}
    with selectors.DefaultSelector() as selector:
        while waiting or running:
            while waiting and len(running) < at_once:
                run = _Run(waiting.popleft(), device, memory_bytes, baseline_seconds, deadline)
                running[run.output] = run
                selector.register(run.output, selectors.EVENT_READ)
            now = time.monotonic()
            nearest = min(run.deadline for run in running.values())
            ended = []
            for key, _ in selector.select(max(nearest - now, 0.0)):
                if running[key.fd].read():
                    ended.append((key.fd, False))
            now = time.monotonic()
            done = {output for output, _ in ended}
            ended += [(output, True) for output, run in running.items() if now >= run.deadline and output not in done]
            for output, timed_out in ended:
                selector.unregister(output)
                yield running.pop(output).end(timed_out)


def jobs_of(paths, settings=None):
    """Jobs for files, keyed by path."""
    jobs = []
    for path in paths:
        with open(path, encoding="utf-8") as file:
            jobs.append(Job(path, os.path.splitext(os.path.basename(path))[0], file.read(), dict(settings or {})))
    return jobs


def pytorch_version():
    return tuple(int(part) for part in torch.__version__.split("+")[0].split(".")[:2])
