"""A candidate's trials: fills the buffers of a slot before a launch, and judges what they hold after it.

What a launch did is judged in the order in which outcomes win: a guard broken, an input changed, an output not written,
NaN or Inf out of place, wrong. Whether an input changed is told by a keyed checksum of it, so that a slot keeps its
inputs from trial to trial, and needs no second copy of them.
"""

import hashlib
import os

import torch

from warpsmith_oracle import checksums, device as devices, draws, judge, norms, tensors
from warpsmith_oracle.buffers import OUTPUT, READ_ONLY, SCRATCH, UPDATED
from warpsmith_oracle.errors import OracleError
from warpsmith_oracle.fills import NAN_TYPES, Fills, KernelGuards, PoolGuards, element_bytes, words
from warpsmith_oracle.slots import DeviceSlots, HostSlots

OUT_OF_BOUNDS, INPUT_MODIFIED = "OUTCOME_OUT_OF_BOUNDS", "OUTCOME_INPUT_MODIFIED"
KEEP = -1   # outputs hold what the last launch left
STALE = -2  # outputs hold the right answer to another slot's inputs: a kernel that trusts what it finds is wrong


class Trials:
    """The buffers of one candidate after the other over one problem."""

    def __init__(self, problem, signature, directory, descriptions, slots, reserve_bytes=0):
        self._problem, self._kernels = problem, problem.kernels
        self._device = problem.device
        self._specs = {entry["name"]: entry for entry in signature["tensors"]}
        self._outputs = [entry for entry in signature["tensors"] if entry["role"] == tensors.OUTPUT]
        self._tolerance = signature.get("tolerance") or 1e-2
        self._required = signature.get("mutates_policy") == "MUTATES_POLICY_REQUIRED"
        self._key = int.from_bytes(os.urandom(8), "little")
        self._check(descriptions)
        self._start_candidate()
        if devices.is_cuda(self._device):
            driver = problem.driver()
            self._made = DeviceSlots(driver, self._device, self._specs, descriptions, slots, problem.case_bytes,
                                     problem.working_bytes, reserve_bytes)
        else:
            self._made = HostSlots(directory, self._specs, descriptions, slots)

    @property
    def slots(self):
        return self._made.slots

    def _start_candidate(self):
        self._fills = Fills(self._kernels)
        self._guards = KernelGuards(self._kernels) if self._kernels is not None else PoolGuards(self._device)

    def _check(self, descriptions):
        seen = set()
        for entry in descriptions:
            name, kind = entry["name"], entry["kind"]
            published = self._specs.get(name)
            if name in seen:
                raise OracleError("request", f"buffer {name!r} stands twice in the plan's buffers")
            seen.add(name)
            if kind == SCRATCH:
                if published is not None:
                    raise OracleError("request", f"scratch {name!r} has the name of one of the problem's tensors")
                continue
            if published is None:
                known = ", ".join(self._specs)
                raise OracleError("request", f"buffer {name!r} is none of the problem's tensors ({known})")
            wanted = OUTPUT if published["role"] == tensors.OUTPUT else READ_ONLY
            if kind != wanted and not (kind == UPDATED and published.get("mutated")):
                raise OracleError("request", f"buffer {name!r} has kind {kind}, and is {wanted}")
            if int(entry["bytes"]) != int(published["storage_bytes"]) or entry["dtype"] != published["dtype"]:
                raise OracleError("request", f"buffer {name!r} has {entry['bytes']} bytes of {entry['dtype']}, and "
                                             f"takes {published['storage_bytes']} of {published['dtype']}")
        missing = [entry["name"] for entry in self._outputs if entry["name"] not in seen]
        if missing:
            raise OracleError("request", f"the plan's buffers lack the output {missing[0]!r}")

    def places(self):
        return [[buffer.place() for buffer in slot.buffers] for slot in self.slots]

    def renew(self, descriptions, slots):
        """Takes the buffers over for another candidate; False where they have to be made anew."""
        self._check(descriptions)
        self._start_candidate()  # the guards' tables name buffers that may be freed
        return self._made.renew(descriptions, slots)

    def end_candidate(self):
        """True: inputs and answers are kept for the next one."""
        self._start_candidate()
        if isinstance(self._made, HostSlots):
            return False
        self._made.end_candidate()
        return True

    def close(self):
        self._start_candidate()
        self._made.close()

    def _slot(self, index):
        if not 0 <= index < len(self.slots):
            raise OracleError("request", f"slot {index} was not prepared; there are {len(self.slots)}")
        return self.slots[index]

    def begin(self, index, seed, distribution, pattern, large_scratch):
        slot = self._slot(index)
        if distribution not in draws.DISTRIBUTIONS:
            known = ", ".join(draws.DISTRIBUTIONS)
            raise OracleError("request", f"unknown distribution {distribution!r}; there are {known}")
        if pattern not in (0, 1, KEEP, STALE):
            raise OracleError("request", f"unknown poison pattern {pattern}; there are 0, 1, {KEEP} to keep outputs and "
                                         f"{STALE} for the answer to other inputs")
        changed = self._changed(slot) if slot.holds(seed, distribution) else None
        if changed is None or any(buffer.name in changed for buffer in slot.inputs):
            self._make_inputs(slot, seed, distribution)
            changed = self._changed(slot)
        slot.distribution, slot.pattern = distribution, pattern
        self._restore_modules(slot, changed)
        self._guards.fill(slot.buffers)
        for buffer in slot.buffers:
            if buffer.kind == SCRATCH and not buffer.persistent:
                if large_scratch:
                    self._fills.fill_large(buffer.payload, buffer.dtype)
                else:
                    self._fills.fill_poison(buffer.payload, buffer.dtype, 2)
            elif buffer.kind == OUTPUT and pattern == STALE:
                self._fill_stale(slot, buffer)
            elif buffer.kind == OUTPUT and pattern != KEEP:
                self._fills.fill_poison(buffer.payload, buffer.dtype, pattern)
        devices.synchronize(self._device)  # another process goes on

    def _fill_stale(self, slot, buffer):
        other = next((kept.case for kept in self.slots if kept.case is not None and kept.case is not slot.case), None)
        if other is None:
            return
        answer = next(answer for answer in other.outputs if answer.name == buffer.name)
        published = self._specs[buffer.name]
        buffer.tensor(published["shape"], published["strides"]).copy_(answer.own.reshape(published["shape"]))

    def _make_inputs(self, slot, seed, distribution):
        slot.let_go()
        case, failure = None, None
        try:
            case = self._problem.case(seed, distribution)
        except OracleError as error:
            if error.kind != "memory" or not devices.is_cuda(self._device):
                raise
            failure = OracleError(error.kind, error.message)
        if failure is not None:
            if not self._made.let_cases_go(slot):
                raise failure
            case = self._problem.case(seed, distribution)
        for buffer in slot.inputs:
            self._fill(buffer, case.values[buffer.name])
        if devices.is_cuda(self._device):
            case.let_inputs_go()
        slot.case = case
        slot.sums = self._sums(slot.inputs)

    def _restore_modules(self, slot, changed):
        modules, wanted = slot.modules, slot.wanted_content()
        stale = [buffer for buffer in modules.buffers if modules.content != wanted or buffer.name in changed]
        modules.content = wanted
        if not stale:
            return
        values = {name: tensor.detach() for name, _, tensor in tensors.module_tensors(slot.case.model)}
        for buffer in stale:
            self._fill(buffer, values[buffer.name])
        modules.sums.update(self._sums(stale))

    def _fill(self, buffer, value):
        published = self._specs[buffer.name]
        if buffer.size == 0:
            return
        if list(value.stride()) == list(published["strides"]):
            buffer.payload.copy_(tensors.span(value).view(torch.uint8))
        else:
            buffer.payload.zero_()
            buffer.tensor(published["shape"], published["strides"]).copy_(value)

    def _sums(self, buffers):
        if self._kernels is not None:
            values = self._kernels.checksums([buffer.payload for buffer in buffers], self._key) if buffers else []
        else:
            values = [checksums.checksum(buffer.payload, self._key) for buffer in buffers]
        return {buffer.name: value for buffer, value in zip(buffers, values)}

    def _changed(self, slot):
        """Names of inputs and module tensors that do not hold what they were filled with."""
        found = self._sums(slot.inputs + slot.modules.buffers)
        known = {**slot.modules.sums, **slot.sums}
        return {name for name, value in found.items() if known.get(name) != value}

    def unwritten(self, indexes):
        """The first floating output of these slots whose last element still is what begin() filled it with; empty
        where there is none. Small copies that wait for nobody else's work: asked right after another process has said
        that it has written them."""
        for index in indexes:
            slot = self._slot(index)
            if slot.pattern not in (0, 1):
                continue
            for buffer in slot.buffers:
                if buffer.kind == OUTPUT and buffer.size > 0 and buffer.dtype in NAN_TYPES:
                    last = words(buffer.payload, buffer.dtype)[-1].item()
                    if last == self._fills.poison(buffer.dtype, slot.pattern):
                        return buffer.name
        return ""

    def judge(self, index, accepted, timed):
        slot = self._slot(index)
        if slot.case is None or slot.pattern is None:
            raise OracleError("request", f"slot {index} has no trial; begin one before judging")
        if slot.modules.content != slot.wanted_content():
            raise OracleError("order", f"another trial has given the module other parameters since slot {index}'s was "
                                       "begun; run and judge a trial of redrawn parameters before beginning the next")
        devices.synchronize(self._device)
        plain = slot.distribution == "plain"
        changed = self._changed(slot)
        report = self._misuse(slot, changed)
        findings = [] if report else [self._finding(slot, entry, accepted, plain) for entry in self._outputs]
        # After many launches a buffer that each of them moves on may be anywhere.
        moved = [] if report or timed else list(self._changed_buffers(slot, accepted, changed))
        left_out = False
        order = (INPUT_MODIFIED, judge.UNWRITTEN, judge.NON_FINITE, judge.WRONG)
        failed = min((finding for finding in moved + findings if finding.outcome != judge.OK),
                     key=lambda finding: order.index(finding.outcome), default=None)
        if failed is not None and order.index(failed.outcome) > 1 and self._may_leave_out(slot, accepted, findings):
            left_out, failed = True, None
        if failed is not None:
            report = {"outcome": failed.outcome, "message": failed.message, "mismatch": failed.mismatch}
        report = report or {"outcome": judge.OK, "message": ""}
        if left_out:
            report["message"] = ("left out: on these inputs the module itself overflows in half precision, which the "
                                 "accepted classes allow")
        none = len(norms.CLASSES)
        reached = [norms.CLASSES.index(finding.reached) if finding.reached else none for finding in findings]
        worst = max(reached, default=none)
        report["left_out"] = left_out
        report["verdict"] = {
            "distribution": slot.distribution,
            "passed": report["outcome"] == judge.OK,
            "kernelbench_passed": (not plain) or (bool(findings) and all(finding.kernelbench for finding in findings)),
            "relative_rms_error": judge.number(max((finding.norms.rms for finding in findings), default=0.0)),
            "worst_tile_error": judge.number(max((finding.norms.tile for finding in findings), default=0.0)),
            "max_error": judge.number(max((finding.norms.maximum for finding in findings), default=0.0)),
            "reached": norms.CLASSES[worst] if worst < none else "PRECISION_CLASS_UNSPECIFIED",
            "after_timed_launch": timed,
        }
        report["output_digest"] = self._digest(slot)
        return report

    def _misuse(self, slot, changed):
        """A guard broken or an input changed."""
        where = self._guards.damage(slot.buffers)
        if where:
            return {"outcome": OUT_OF_BOUNDS, "message": f"out of bounds: the candidate wrote {where}"}
        for buffer in slot.buffers:
            if buffer.name in changed and buffer.name not in slot.case.new_values:
                return {"outcome": INPUT_MODIFIED,
                        "message": f"{buffer.name} is read only and was changed{self._place_of_change(slot, buffer)}"}
        return None

    def _place_of_change(self, slot, buffer):
        """Which bytes, by drawing the inputs again where they are not at hand; empty where that does not tell."""
        try:
            values = slot.case.values
            if buffer in slot.modules.buffers:
                values = {name: tensor.detach() for name, _, tensor in tensors.module_tensors(slot.case.model)}
            elif not values:
                values = self._problem.draw_case(slot.case.seed, slot.distribution).values
            seen = buffer.payload.clone()
            self._fill(buffer, values[buffer.name])
            wrong = seen != buffer.payload
            buffer.payload.copy_(seen)
        except (OracleError, RuntimeError):  # memory
            return ""
        if not bool(wrong.any()):
            return ""
        first = int(wrong.to(torch.uint8).argmax())
        width = element_bytes(buffer.dtype)
        return f": {int(wrong.sum())} bytes, the first in element {first // width} of its storage"

    def _finding(self, slot, entry, accepted, plain):
        buffer = next(buffer for buffer in slot.buffers if buffer.name == entry["name"])
        answer = next(answer for answer in slot.case.outputs if answer.name == entry["name"])
        got = buffer.tensor(entry["shape"], entry["strides"])
        poison = None if slot.pattern in (KEEP, STALE) else self._fills.poison(buffer.dtype, slot.pattern)
        return judge.judge_output(answer, got, accepted, self._tolerance, plain, poison)

    def _changed_buffers(self, slot, accepted, changed):
        """Tensors that forward() changes: the old bytes or the new values, or the new values only where they are
        required."""
        for buffer in slot.buffers:
            answer = slot.case.new_values.get(buffer.name)
            if answer is None:
                continue
            published = self._specs[buffer.name]
            if not self._required and buffer.name not in changed:
                continue
            got = buffer.tensor(published["shape"], published["strides"]).contiguous()
            finding = judge.judge_output(answer, got, accepted, self._tolerance, False)
            if finding.outcome != judge.OK and not self._required:
                finding.outcome = INPUT_MODIFIED
                finding.message = (f"{buffer.name} holds neither its old values nor those that forward() gives it: "
                                   f"{finding.message}")
            elif finding.outcome != judge.OK:
                finding.outcome = judge.WRONG
                finding.message = f"{buffer.name} must change as forward() changes it: {finding.message}"
            yield finding

    def _may_leave_out(self, slot, accepted, findings):
        """Whether the accepted classes reach into half precision, in which the module itself is not finite here."""
        if judge.accepted_classes(accepted)[-1] == norms.FP32 or not findings:
            return False
        if any(finding.outcome == judge.WRONG and finding.norms.rms == 0 for finding in findings):
            return False  # exact outputs do not overflow
        return not self._problem.half_finite(slot.case)

    def _digest(self, slot):
        outputs = [buffer for buffer in slot.buffers if buffer.kind == OUTPUT]
        digest = hashlib.sha256()
        if devices.is_cuda(self._device):
            for value in self._sums(outputs).values():
                digest.update(value.to_bytes(8, "little"))
        else:
            for buffer in outputs:
                digest.update(buffer.bytes())
        return digest.hexdigest()
