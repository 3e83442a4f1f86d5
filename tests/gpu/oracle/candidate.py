"""Stands for an executor: opens the oracle's buffers by their handles and computes an operator with PyTorch.

Lines on standard input: {"open": slots}, {"run": slot, "operator": name}, {"poke": [slot, buffer, byte offset]}.
One line of JSON comes back for each.
"""

import json
import sys

import torch

from warpsmith_oracle import native


class Opened:
    """One buffer's allocation in this process."""

    def __init__(self, driver, place):
        self.pointer = driver.open_ipc(bytes.fromhex(place["ipc_handle"]))
        self.__cuda_array_interface__ = {"shape": (place["allocation_bytes"],), "typestr": "|u1",
                                         "data": (self.pointer, False), "version": 3, "strides": None}
        self.place = place
        self.whole = torch.as_tensor(self, device="cuda:0")

    def tensor(self, shape):
        offset, size = self.place["payload_offset"], self.place["payload_bytes"]
        return self.whole[offset:offset + size].view(torch.float32).view(shape)


def compute(operator, tensors):
    """`tensors`: in the plan's order, the output last."""
    if operator == "softmax":
        torch.softmax(tensors[0], 1, out=tensors[-1])
    elif operator == "layer_norm":
        tensors[-1].copy_(torch.nn.functional.layer_norm(tensors[0], tensors[1].shape, tensors[1], tensors[2]))
    elif operator == "matmul":
        torch.mm(tensors[0], tensors[1], out=tensors[-1])
    elif operator == "linear":
        torch.addmm(tensors[2], tensors[0], tensors[1].t(), out=tensors[-1])


def main():
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.zeros(1, device="cuda:0")
    driver = native.Driver()
    slots, opened, shapes = [], {}, []
    for line in sys.stdin:
        request = json.loads(line)
        reply = {"ok": True}
        if "open" in request:
            shapes = request["shapes"]
            for place in (place for slot in request["open"] for place in slot):
                if place["ipc_handle"] not in opened:
                    opened[place["ipc_handle"]] = Opened(driver, place)
            slots = [[opened[place["ipc_handle"]] for place in slot] for slot in request["open"]]
        elif "run" in request:
            buffers = slots[request["run"]]
            compute(request["operator"], [buffer.tensor(shape) for buffer, shape in zip(buffers, shapes)])
        else:
            slot, index, offset = request["poke"]
            buffer = slots[slot][index]
            buffer.whole[buffer.place["payload_offset"] + offset] ^= 1
        torch.cuda.synchronize()
        sys.stdout.write(json.dumps(reply) + "\n")
        sys.stdout.flush()


main()
