"""What the oracle's tests share: problems by name, and a candidate's hands on the buffers."""

import copy
import mmap
import os
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
PACKAGE = os.environ.get("WARPSMITH_ORACLE_PACKAGE", os.path.join(SOURCE, "gpu_worker", "reference", "python"))
sys.path.insert(0, PACKAGE)

import torch  # noqa: E402

from warpsmith_oracle import buffers, intake, trial  # noqa: E402
from warpsmith_oracle.reference import Problem  # noqa: E402

torch.set_num_threads(1)


def silent(stage):
    del stage


def source_of(name, folder="problems"):
    with open(os.path.join(HERE, folder, name + ".py"), encoding="utf-8") as file:
        return file.read()


_TAKEN = {}


def take_in(name, **settings):
    """Intake's result, made once a run for equal settings."""
    key = (name, tuple(sorted(settings.items())))
    if key not in _TAKEN:
        intake._BASELINE_SECONDS = 0.02
        _TAKEN[key] = intake.take_in(name, source_of(name), settings, silent, "cpu", "test")
    return copy.deepcopy(_TAKEN[key])


class Bench:
    """A loaded problem with one candidate's buffers, and what that candidate sees of them."""

    def __init__(self, name, scratch=(), slots=1, **settings):
        self.signature = take_in(name, **settings)["signature"]
        self.problem = Problem(name, source_of(name), settings, silent)
        self.problem.specs = {entry["name"]: entry for entry in self.signature["tensors"]}
        self.folder = tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None)
        self.descriptions = [
            {"name": entry["name"], "dtype": entry["dtype"], "bytes": entry["storage_bytes"],
             "kind": buffers.OUTPUT if entry["role"] == "TENSOR_ROLE_OUTPUT" else buffers.READ_ONLY}
            for entry in self.signature["tensors"] if "alias_of" not in entry]
        for key, size in scratch:
            self.descriptions.append({"name": key, "dtype": "float32", "bytes": size, "kind": buffers.SCRATCH})
        self.trials = trial.Trials(self.problem, self.signature, self.folder.name, self.descriptions, slots)
        self._map()

    def _map(self):
        self.maps = []
        for slot in self.trials.places():
            self.maps.append({})
            for entry, place in zip(self.descriptions, slot):
                with open(place["path"], "r+b") as file:
                    self.maps[-1][entry["name"]] = (mmap.mmap(file.fileno(), 0), place)

    def close(self):
        self.trials.close()
        self.problem.close()
        self.folder.cleanup()

    def begin(self, seed=1, distribution="plain", pattern=0, slot=0, large=False):
        self.trials.begin(slot, seed, distribution, pattern, large)

    def judge(self, accepted=("PRECISION_CLASS_FP32",), slot=0, timed=False):
        return self.trials.judge(slot, list(accepted), timed)

    def raw(self, name, slot=0):
        """All bytes of a buffer's file, guards included, and where the payload starts."""
        mapping, place = self.maps[slot][name]
        return torch.frombuffer(mapping, dtype=torch.uint8), place["payload_offset"], place["payload_bytes"]

    def tensor(self, name, slot=0):
        whole, offset, size = self.raw(name, slot)
        entry = next((entry for entry in self.signature["tensors"] if entry["name"] == name), None)
        if entry is None:
            return whole[offset:offset + size].view(torch.float32)
        values = whole[offset:offset + size].view(getattr(torch, entry["dtype"]))
        return torch.as_strided(values, entry["shape"], entry["strides"])

    def answer(self, slot=0):
        """The reference's own outputs, as an honest candidate would compute them."""
        return {answer.name: answer.own for answer in self.trials.slots[slot].case.outputs}

    def write_answer(self, slot=0):
        for name, value in self.answer(slot).items():
            self.tensor(name, slot).copy_(value)
