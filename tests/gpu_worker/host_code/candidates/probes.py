# expect: ok
# Tries what a sandbox must refuse, changes what a judge in its own process would use, and is right all the same: it says
# what it could do where anything was possible.
import ctypes
import glob
import os
import signal
import socket
import subprocess
import sys
import time

import torch
import torch.nn as nn

torch.allclose = lambda *arguments, **keywords: True
torch.equal = torch.allclose
time.perf_counter = lambda: 0.0
time.time = lambda: 0.0
time.monotonic = lambda: 0.0
done = []


def attempt(name, action):
    try:
        result = action()
    except BaseException:
        return
    if result is not False:
        done.append(name)


def read(path):
    with open(path, "rb") as file:
        return file.read(1) is not None


def write(path):
    with open(path, "w") as file:
        file.write("x")


def connect(path):
    with socket.socket(socket.AF_UNIX) as other:
        other.connect(path)


def leave_group():
    before = os.getpgrp()
    os.setsid()
    os.setpgid(0, 0)
    return os.getpgrp() != before


def survive():
    if os.fork() == 0:
        while True:
            signal.pause()
    return False


def buffers():
    return [line.split()[-1] for line in open("/proc/self/maps") if line.rstrip().endswith(".buffer")]


here = os.path.dirname(os.path.abspath(__file__))
parent = os.getppid()
attempt("read /etc/passwd", lambda: read("/etc/passwd"))
attempt("list /tmp", lambda: os.listdir("/tmp"))
attempt("list /", lambda: os.listdir("/"))
attempt("read the parent's environment", lambda: read(f"/proc/{parent}/environ"))
attempt("read the parent's memory", lambda: read(f"/proc/{parent}/mem"))
attempt("read the oracle", lambda: __import__("warpsmith_oracle"))
attempt("find our variables", lambda: bool([name for name in os.environ if "WARPSMITH" in name or "TOKEN" in name]))
attempt("hold the problem's module", lambda: "Model" in globals() or [
    module for name, module in sys.modules.items() if "problem" in name and "warpsmith" in name] or False)
attempt("write outside", lambda: write("/tmp/warpsmith-escaped"))
attempt("write beside", lambda: write(os.path.join(os.path.dirname(here), "warpsmith-escaped")))
attempt("write shared memory", lambda: write("/dev/shm/warpsmith-escaped"))
attempt("open a socket", lambda: socket.socket(socket.AF_INET))
attempt("open a local socket", lambda: socket.socket(socket.AF_UNIX))
attempt("connect to a service", lambda: connect("/run/systemd/notify"))
attempt("make a pair of sockets", socket.socketpair)
attempt("signal the parent", lambda: os.kill(parent, 0))
attempt("signal the group", lambda: os.killpg(0, signal.SIGCONT))
attempt("trace the parent", lambda: ctypes.CDLL(None).ptrace(16, parent, 0, 0) == 0)
attempt("read the parent's memory by call", lambda: ctypes.CDLL(None).syscall(310, parent, 0, 0, 0, 0, 0) >= 0)
attempt("make namespaces", lambda: ctypes.CDLL(None).unshare(0x10000000) == 0)
attempt("mount", lambda: ctypes.CDLL(None).mount(b"none", here.encode(), b"tmpfs", 0, None) == 0)
attempt("leave the group", leave_group)
attempt("remove a buffer", lambda: os.unlink(buffers()[0]))
attempt("cut a buffer off", lambda: os.truncate(buffers()[0], 0))
attempt("make a file beside the buffers", lambda: write(os.path.join(os.path.dirname(buffers()[0]), "more")))
attempt("escape through a program", lambda: subprocess.run(
    ["/bin/cat", "/etc/passwd"], capture_output=True, check=True).stdout != b"")
attempt("leave a process behind", survive)
# What it may do: files in its folder, programs, threads.
with open(os.path.join(here, "own.txt"), "w") as own:
    own.write("x")
assert subprocess.run(["/bin/true"]).returncode == 0
assert len(buffers()) > 0 and glob.glob(os.path.join(here, "*.txt"))
print("garbage " * 1000)
sys.stderr.write("more garbage\n")
os.write(1, b'{"id": 3, "ok": true}\n')


class ModelNew(nn.Module):
    def __init__(self, inputs, outputs, scale):
        super().__init__()
        self.linear = nn.Linear(inputs, outputs)
        self.scale = scale

    def forward(self, x):
        if done:
            raise RuntimeError("it could: " + ", ".join(done))
        print("still garbage")
        return torch.relu(self.linear(x) * self.scale)
