"""A candidate's trials: fills the buffers of a slot before a launch, and judges what they hold after it.

What a launch did is judged in the order in which outcomes win: a guard broken, an input changed, an output not written,
NaN or Inf out of place, wrong.
"""

import hashlib
import os

import torch

from warpsmith_oracle import draws, judge, norms, tensors
from warpsmith_oracle.buffers import OUTPUT, READ_ONLY, SCRATCH, SharedBuffer
from warpsmith_oracle.errors import OracleError
from warpsmith_oracle.fills import Fills

OUT_OF_BOUNDS, INPUT_MODIFIED = "OUTCOME_OUT_OF_BOUNDS", "OUTCOME_INPUT_MODIFIED"
KEEP = -1  # outputs hold what the last launch left


class Slot:
    def __init__(self, buffers):
        self.buffers = buffers
        self.case = None
        self.distribution = ""
        self.pattern = KEEP
        self.expected = {}  # name -> payload bytes that must still be there


class Trials:
    """The buffers of one candidate over one problem."""

    def __init__(self, problem, signature, directory, descriptions, slots):
        self._problem = problem
        self._specs = {entry["name"]: entry for entry in signature["tensors"]}
        self._outputs = [entry for entry in signature["tensors"] if entry["role"] == tensors.OUTPUT]
        self._tolerance = signature.get("tolerance") or 1e-2
        self._required = signature.get("mutates_policy") == "MUTATES_POLICY_REQUIRED"
        self._fills = Fills()
        self._check(descriptions)
        self.slots = [self._make_slot(os.path.join(directory, f"slot{slot}"), descriptions) for slot in range(slots)]

    @staticmethod
    def _make_slot(prefix, descriptions):
        return Slot([SharedBuffer(f"{prefix}-{index}.buffer", entry["name"], entry["dtype"], int(entry["bytes"]),
                                  entry["kind"]) for index, entry in enumerate(descriptions)])

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
            if kind != wanted:
                raise OracleError("request", f"buffer {name!r} has kind {kind}, and is {wanted}")
            if int(entry["bytes"]) != int(published["storage_bytes"]) or entry["dtype"] != published["dtype"]:
                raise OracleError("request", f"buffer {name!r} has {entry['bytes']} bytes of {entry['dtype']}, and "
                                             f"takes {published['storage_bytes']} of {published['dtype']}")
        missing = [entry["name"] for entry in self._outputs if entry["name"] not in seen]
        if missing:
            raise OracleError("request", f"the plan's buffers lack the output {missing[0]!r}")

    def places(self):
        return [[buffer.place() for buffer in slot.buffers] for slot in self.slots]

    def close(self):
        """Unlinks the files; mappings go with the last tensor over them."""
        for slot in self.slots:
            for buffer in slot.buffers:
                try:
                    os.unlink(buffer.path)
                except FileNotFoundError:
                    pass
        self.slots = []

    def _slot(self, index):
        if not 0 <= index < len(self.slots):
            raise OracleError("request", f"slot {index} was not prepared; there are {len(self.slots)}")
        return self.slots[index]

    def begin(self, index, seed, distribution, pattern, large_scratch):
        slot = self._slot(index)
        if distribution not in draws.DISTRIBUTIONS:
            known = ", ".join(draws.DISTRIBUTIONS)
            raise OracleError("request", f"unknown distribution {distribution!r}; there are {known}")
        if pattern not in (0, 1, KEEP):
            raise OracleError("request", f"unknown poison pattern {pattern}; there are 0, 1, and {KEEP} to keep them")
        slot.case, slot.distribution, slot.pattern = self._problem.case(seed, distribution), distribution, pattern
        slot.expected = {}
        for buffer in slot.buffers:
            buffer.fill_guards(self._fills)
            if buffer.kind == READ_ONLY:
                self._fill_input(slot, buffer)
            elif buffer.kind == SCRATCH and large_scratch:
                self._fills.fill_large(buffer.payload, buffer.dtype)
            elif buffer.kind == SCRATCH:
                self._fills.fill_poison(buffer.payload, buffer.dtype, 2)
            elif pattern != KEEP:
                self._fills.fill_poison(buffer.payload, buffer.dtype, pattern)

    def _fill_input(self, slot, buffer):
        if buffer.size == 0:
            return
        value, published = slot.case.values[buffer.name], self._specs[buffer.name]
        if list(value.stride()) == list(published["strides"]):
            source = tensors.span(value).view(torch.uint8)
            buffer.payload.copy_(source)
            slot.expected[buffer.name] = source
        else:
            buffer.payload.zero_()
            buffer.tensor(published["shape"], published["strides"]).copy_(value)
            slot.expected[buffer.name] = buffer.payload.clone()

    def judge(self, index, accepted, timed):
        slot = self._slot(index)
        if slot.case is None:
            raise OracleError("request", f"slot {index} has no trial; begin one before judging")
        plain = slot.distribution == "plain"
        report = self._misuse(slot)
        findings = [] if report else [self._finding(slot, entry, accepted, plain) for entry in self._outputs]
        changed = [] if report else list(self._changed_buffers(slot, accepted))
        left_out = False
        order = (INPUT_MODIFIED, judge.UNWRITTEN, judge.NON_FINITE, judge.WRONG)
        failed = min((finding for finding in changed + findings if finding.outcome != judge.OK),
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

    def _misuse(self, slot):
        """A guard broken or an input changed."""
        for buffer in slot.buffers:
            where = buffer.broken_guard()
            if where:
                return {"outcome": OUT_OF_BOUNDS, "message": f"out of bounds: the candidate wrote {where}"}
        for buffer in slot.buffers:
            expected = slot.expected.get(buffer.name)
            if expected is None or buffer.name in slot.case.new_values or torch.equal(buffer.payload, expected):
                continue
            wrong = buffer.payload != expected
            first = int(wrong.to(torch.uint8).argmax())
            width = torch.empty(0, dtype=getattr(torch, buffer.dtype)).element_size()
            message = (f"{buffer.name} is read only and was changed: {int(wrong.sum())} bytes, the first in element "
                       f"{first // width} of its storage")
            return {"outcome": INPUT_MODIFIED, "message": message}
        return None

    def _finding(self, slot, entry, accepted, plain):
        buffer = next(buffer for buffer in slot.buffers if buffer.name == entry["name"])
        answer = next(answer for answer in slot.case.outputs if answer.name == entry["name"])
        got = buffer.tensor(entry["shape"], entry["strides"])
        poison = None if slot.pattern == KEEP else self._fills.poison(buffer.dtype, slot.pattern)
        return judge.judge_output(answer, got, accepted, self._tolerance, plain, poison)

    def _changed_buffers(self, slot, accepted):
        """Tensors that forward() changes: the old bytes or the new values, or the new values only where they are
        required."""
        for buffer in slot.buffers:
            answer = slot.case.new_values.get(buffer.name)
            if answer is None:
                continue
            published = self._specs[buffer.name]
            if not self._required and torch.equal(buffer.payload, slot.expected[buffer.name]):
                continue
            got = buffer.tensor(published["shape"], published["strides"]).contiguous()
            finding = judge.judge_values(judge.Finding(buffer.name), answer, got, accepted, self._tolerance, False)
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
        digest = hashlib.sha256()
        for buffer in slot.buffers:
            if buffer.kind == OUTPUT:
                digest.update(buffer.bytes())
        return digest.hexdigest()
