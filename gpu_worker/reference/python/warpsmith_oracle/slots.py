"""The buffers of a candidate's slots, and how many slots there may be.

A slot is a set of inputs with their answers. Beside a CPU its buffers are files of its own. On a GPU module tensors and
scratch are shared by all slots (a problem may have hundreds of parameters, and an executor opens each handle), inputs,
outputs and persistent scratch are a slot's own; and all but the scratch outlive the candidate, so that the next one
finds its inputs and answers there.
"""

import os

from warpsmith_oracle import device as devices, draws, tensors
from warpsmith_oracle.buffers import OUTPUT, SCRATCH, DeviceBuffer, FileBuffer, device_bytes
from warpsmith_oracle.errors import OracleError

_WORKING_MARGIN = 1.25   # PyTorch's memory is in pieces
_LEAST_RESERVE = 1 << 30  # with one slot only
_MODULE_ROLES = frozenset((tensors.PARAMETER, tensors.BUFFER, tensors.ATTRIBUTE))


class ModuleSet:
    """Buffers of parameters, buffers and attributes, and what they hold: None, "usual", or the seed of redrawn
    parameters."""

    def __init__(self, buffers):
        self.buffers = buffers
        self.content = None
        self.sums = {}


class Slot:
    def __init__(self, buffers, inputs, modules):
        self.buffers = buffers    # in the plan's order, shared ones too
        self.inputs = inputs      # those filled with the case's inputs
        self.modules = modules
        self.case = None
        self.sums = {}            # of the inputs as filled, by name
        self.distribution = ""
        self.pattern = None

    def holds(self, seed, distribution):
        return self.case is not None and (self.case.seed, self.case.distribution) == (seed, distribution)

    def wanted_content(self):
        return self.case.seed if self.distribution == draws.PARAMETERS else "usual"

    def let_go(self):
        self.case, self.sums = None, {}


class HostSlots:
    """Files in a candidate's own folder: made anew for each."""

    def __init__(self, directory, specs, descriptions, count):
        self._specs = specs
        self.slots = [self._make(os.path.join(directory, f"slot{index}"), descriptions) for index in range(count)]

    def _make(self, prefix, descriptions):
        buffers = [FileBuffer(f"{prefix}-{index}.buffer", entry["name"], entry["dtype"], int(entry["bytes"]),
                              entry["kind"], bool(entry.get("persistent"))) for index, entry in enumerate(descriptions)]
        roles = {buffer: self._specs.get(buffer.name, {}).get("role") for buffer in buffers}
        return Slot(buffers, [buffer for buffer in buffers if roles[buffer] == tensors.INPUT],
                    ModuleSet([buffer for buffer in buffers if roles[buffer] in _MODULE_ROLES]))

    def renew(self, descriptions, count):
        return False

    def close(self):
        for slot in self.slots:
            for buffer in slot.buffers:
                buffer.close()
        self.slots = []


class DeviceSlots:
    """Allocations on the GPU. `case_bytes` and `working_bytes`: what a case keeps and what making one takes beside;
    `reserve_bytes`: what others on the GPU need (executors, flushes)."""

    def __init__(self, driver, device, specs, descriptions, count, case_bytes, working_bytes, reserve_bytes):
        self._driver, self._device, self._specs = driver, device, specs
        self._case_bytes, self._working_bytes, self._reserve_bytes = case_bytes, working_bytes, reserve_bytes
        self._kept = self._keep_key(descriptions)
        self._modules = None
        self._own = []      # a slot's inputs and outputs, by name
        self._cases = []    # Slot objects of the same index, kept for their cases
        self._scratch = {}  # by name; of the present candidate
        self.slots = []
        try:
            self._build(descriptions, count)
        except BaseException:
            self.close()
            raise

    @staticmethod
    def _keep_key(descriptions):
        return [(entry["name"], entry["dtype"], int(entry["bytes"]), entry["kind"]) for entry in descriptions
                if entry["kind"] != SCRATCH]

    def _role(self, entry):
        return self._specs.get(entry["name"], {}).get("role")

    def _allocate(self, entry):
        return DeviceBuffer(self._driver, self._device, entry["name"], entry["dtype"], int(entry["bytes"]),
                            entry["kind"], bool(entry.get("persistent")))

    def _build(self, descriptions, count):
        shared = [entry for entry in descriptions if entry["kind"] == SCRATCH and not entry.get("persistent")]
        lasting = [entry for entry in descriptions if entry["kind"] == SCRATCH and entry.get("persistent")]
        modules = [entry for entry in descriptions if self._role(entry) in _MODULE_ROLES]
        own = [entry for entry in descriptions if self._role(entry) in (tensors.INPUT, tensors.OUTPUT)]
        fixed = _total(shared) + (_total(modules) if self._modules is None else 0)
        fitting = self._fitting(fixed, _total(own), _total(lasting), count)
        while len(self._own) > fitting:
            self._drop_slot()
        if self._modules is None:
            self._modules = ModuleSet([self._allocate(entry) for entry in modules])
        while len(self._own) < fitting:
            self._own.append({entry["name"]: self._allocate(entry) for entry in own})
        self._scratch = {entry["name"]: self._allocate(entry) for entry in shared}
        self.slots = []
        for index in range(min(fitting, count)):
            found = dict(self._own[index])
            found.update({buffer.name: buffer for buffer in self._modules.buffers})
            found.update(self._scratch)
            for entry in lasting:
                found[entry["name"]] = self._scratch[(index, entry["name"])] = self._allocate(entry)
            buffers = [found[entry["name"]] for entry in descriptions]
            inputs = [buffer for buffer in self._own[index].values() if buffer.kind != OUTPUT]
            slot = Slot(buffers, inputs, self._modules)
            if index < len(self._cases):
                slot.case, slot.sums = self._cases[index].case, self._cases[index].sums
                self._cases[index] = slot
            else:
                self._cases.append(slot)
            self.slots.append(slot)

    def _fitting(self, fixed, own, lasting, count):
        """How many slots fit beside `fixed` bytes, of at most `count` and those there are."""
        devices.empty_cache(self._device)
        free = devices.free_bytes(self._device)
        there = len(self._own)
        pending = sum(slot.case is None for slot in self._cases) + there - len(self._cases)
        working = int(self._working_bytes * _WORKING_MARGIN)
        spare = free - fixed - working - pending * self._case_bytes - min(there, count) * lasting
        wanted = max(count, there)
        each = max(own + lasting + self._case_bytes, 1)
        more = (spare - self._reserve_bytes) // each  # negative: slots have to go
        fitting = min(wanted, there + more)
        if fitting >= 1:
            return fitting
        if there + (spare - min(self._reserve_bytes, _LEAST_RESERVE)) // each >= 1:
            return 1
        need = fixed + working + own + lasting + self._case_bytes + min(self._reserve_bytes, _LEAST_RESERVE)
        have = free + there * (own + self._case_bytes)
        raise OracleError("memory", f"one trial takes {devices.gib(need)} of the GPU's memory ({devices.gib(fixed)} of "
                                    f"it for parameters and scratch) and {devices.gib(have)} are free; use less "
                                    "scratch, smaller sizes, or a GPU with more memory")

    def _drop_slot(self):
        index = len(self._own) - 1
        if index < len(self._cases):
            self._cases.pop().let_go()
        for buffer in self._own.pop().values():
            buffer.close()
        self.slots = []

    def _drop_scratch(self):
        for buffer in self._scratch.values():
            buffer.close()
        self._scratch = {}

    def renew(self, descriptions, count):
        """For another candidate. False: its buffers are others, so that everything has to be made anew."""
        if self._keep_key(descriptions) != self._kept:
            return False
        self._drop_scratch()
        self.slots = []
        self._build(descriptions, count)
        return True

    def let_cases_go(self, but):
        """Frees the answers of all slots but one; their inputs are made again when they are wanted. False: there were
        none."""
        held = [slot for slot in self._cases if slot is not but and slot.case is not None]
        for slot in held:
            slot.let_go()
        devices.empty_cache(self._device)
        return bool(held)

    def end_candidate(self):
        """Frees the scratch; inputs and answers stay."""
        self._drop_scratch()
        self.slots = []

    def close(self):
        devices.synchronize(self._device)
        self._drop_scratch()
        while self._own:
            self._drop_slot()
        for buffer in self._modules.buffers if self._modules else ():
            buffer.close()
        self._modules = None
        self._cases, self.slots = [], []
        devices.empty_cache(self._device)


def _total(entries):
    return sum(device_bytes(int(entry["bytes"])) for entry in entries)
