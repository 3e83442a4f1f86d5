"""JSON lines on standard input and output, a request and a reply each; both descriptors are moved away before anything
is imported, and whatever a candidate prints goes to /dev/null.

Request: {"id": number, "command": ..., ...}. Reply: {"id": number, "ok": true, ...} or {"id": number, "fault": kind,
"message": ...}. The parent lets this process run from a request to its reply only.
"""

import argparse
import gc
import json
import os
import resource
import sys

COMMANDS = {}


def command(function):
    COMMANDS[function.__name__] = function
    return function


class Channel:
    def __init__(self):
        self._reader = os.fdopen(os.dup(0), "r", encoding="utf-8", newline="\n")
        self._writer = os.dup(1)
        null = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1, 2):
            os.dup2(null, descriptor)
        os.close(null)

    def read(self):
        return self._reader.readline()

    def write(self, message):
        data = (json.dumps(message) + "\n").encode()
        while data:
            data = data[os.write(self._writer, data):]


class Server:
    def __init__(self, channel, arguments):
        self.channel = channel
        self.role, self.folder = arguments.role, arguments.folder
        self.device, self.memory_bytes = arguments.device, arguments.memory_bytes
        self.opener, self.slots, self.tensors = None, [], []
        self.form = None
        self.model_class, self.model, self.path = None, None, ""
        self.weights = None
        self.outputs = []  # of the published tensors

    def serve(self):
        while True:
            line = self.channel.read()
            if not line:
                return 0
            request = json.loads(line)
            number, name = request.pop("id"), request.pop("command")
            self.channel.write({"id": number, **self._answer(name, request)})

    def _answer(self, name, request):
        from warpsmith_host_code.faults import Fault, fault_of
        try:
            return {"ok": True, **(COMMANDS[name](self, **request) or {})}
        except Fault as fault:
            return {"fault": fault.kind, "message": fault.message}
        except BaseException as error:  # a candidate may raise anything, and the process must answer
            fault = fault_of(error, "forward" if name == "run" else "request", name, self.path)
            return {"fault": fault.kind, "message": fault.message}

    def bind(self):
        if self.form is not None:
            for slot in self.slots:
                slot.bind(self.form)


def _synchronize(device):
    import torch
    if device != "cpu":
        torch.cuda.synchronize()


@command
def hello(server):
    import torch
    if server.device != "cpu":
        torch.zeros(1, device=server.device)
    _synchronize(server.device)
    return {"pytorch": torch.__version__}


@command
def open_buffers(server, tensors, slots):
    """The parent's buffers, instead of those before."""
    from warpsmith_host_code.shared_tensors import Opener, Slot
    _synchronize(server.device)
    server.slots = []
    gc.collect()
    if server.opener is not None:
        server.opener.close()
    server.opener, server.tensors = Opener(server.device), tensors
    server.slots = [Slot(server.opener, tensors, places) for places in slots]
    server.outputs = [entry for entry in tensors if entry["role"] == "output"]
    server.bind()


@command
def load_reference(server, name, source, settings):
    from warpsmith_host_code.reference_model import Reference
    reference = Reference(name, source, settings, server.device)
    server.model, server.form = reference.model, reference.form
    server.reference = reference  # its file lies in a folder that goes with it
    return {"form": reference.form, "constructor": reference.constructor, "constants": reference.constants}


@command
def close_doors(server):
    """The last thing before a candidate's code: no sockets any more, and a bound on memory."""
    from warpsmith_host_code import socket_lock
    from warpsmith_host_code.faults import Fault
    try:
        socket_lock.close()
    except RuntimeError as error:
        raise Fault("sandbox", str(error)) from error
    if server.memory_bytes and server.device == "cpu":
        with open("/proc/self/statm", encoding="ascii") as file:
            pages = int(file.read().split()[0])
        limit = pages * resource.getpagesize() + server.memory_bytes
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


@command
def load_candidate(server, source, constants):
    from warpsmith_host_code import candidate
    model, server.path = candidate.load(server.folder, source, constants)
    server.model_class = model


@command
def build(server, constructor, form, eval_mode):
    from warpsmith_host_code import candidate, values
    server.model = candidate.build(server.model_class, server.path, values.decode(constructor), server.device,
                                   eval_mode)
    server.form = form
    server.bind()
    _synchronize(server.device)


@command
def load_weights(server, slot):
    """Parameters and buffers as the slot has them."""
    from warpsmith_host_code.weights import Weights
    if server.weights is None:
        server.weights = Weights(server.model, server.tensors)
    server.weights.load(server.slots[slot])
    _synchronize(server.device)
    return {"weights": server.weights.how}


@command
def run(server, slots, give_back=False):
    """forward() on each slot's inputs, in order, each output copied into the slot's buffers. With `give_back`, buffers
    that the module changes follow."""
    import torch

    from warpsmith_host_code.faults import fault_of
    from warpsmith_host_code.outputs import checked
    model, path, expected, device = server.model, server.path, server.outputs, torch.device(server.device)
    with torch.no_grad():
        for index in slots:
            slot = server.slots[index]
            try:
                result = model(*slot.arguments)
            except BaseException as error:
                raise fault_of(error, "forward", "forward()", path) from error
            for buffer, leaf in zip(slot.outputs, checked(result, expected, device)):
                buffer.copy_(leaf)
        if give_back:
            server.weights.give_back(server.slots[slots[-1]], server.tensors)
        if server.device != "cpu":
            torch.cuda.synchronize()


def main(arguments):
    parser = argparse.ArgumentParser(prog="warpsmith_host_code")
    parser.add_argument("--role", choices=("candidate", "reference"), required=True)
    parser.add_argument("--folder", required=True)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--memory-bytes", type=int, default=0)
    parser.add_argument("--oracle", default="")
    options = parser.parse_args(arguments)
    channel = Channel()
    os.chdir(options.folder)
    if options.role == "reference":
        sys.path.insert(0, options.oracle)
    import torch
    torch.set_num_threads(options.threads)
    gc.collect()
    gc.freeze()
    return Server(channel, options).serve()
