"""Compares what intake said of a problem file with the manifest beside it.

A manifest is one JSON object: file name -> expectation. Fields, all but the first optional:
- family, tensors (number by role), outputs (name -> dtype and shape), degenerate, distributions and trivial_passes (at
  least these; an empty list of trivial_passes: none): of an accepted problem; or error_kind (and words that the message
  holds): of a refused one;
- input_types (inputs that are not float32), strides (tensors that are not contiguous), alias_of, frozen, mutated:
  exact, none where left out;
- bytes and flops: algorithm_bytes and algorithm_flops as sums worked out by hand, or flops_from and flops_factor: at
  least that sum and at most so many times as much;
- needs_pytorch with older: what is expected where PyTorch is older (or_gpu: unless it runs on a GPU);
- eval_mode: what is expected where the problem is taken in in eval mode.
Sums are integers, + - * / // ** and brackets.
"""

import ast
import json
import operator
import os

_OPERATIONS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
               ast.FloorDiv: operator.floordiv, ast.Pow: operator.pow}


def value_of(text):
    """The value of a sum."""
    def evaluate(node):
        if isinstance(node, ast.Expression):
            return evaluate(node.body)
        if isinstance(node, ast.Constant) and isinstance(node.value, int):
            return node.value
        if isinstance(node, ast.BinOp) and type(node.op) in _OPERATIONS:
            return _OPERATIONS[type(node.op)](evaluate(node.left), evaluate(node.right))
        raise ValueError(f"not a sum of integers: {text!r}")
    return evaluate(ast.parse(text, mode="eval"))


def load(folder):
    with open(os.path.join(folder, "manifest.json"), encoding="utf-8") as file:
        return json.load(file)


def expected_for(entry, pytorch, on_gpu, eval_mode=False):
    """The expectation that holds for this PyTorch, device and mode."""
    if eval_mode:
        return entry["eval_mode"]
    needed = entry.get("needs_pytorch")
    if needed and pytorch < tuple(int(part) for part in needed.split(".")) and not (on_gpu and entry.get("or_gpu")):
        return entry["older"]
    return entry


def _contiguous(shape):
    strides, step = [], 1
    for size in reversed(shape):
        strides.append(step)
        step *= max(size, 1)
    return list(reversed(strides))


def _facts(signature):
    """A signature in the manifest's terms."""
    roles, facts = {}, {"outputs": {}, "input_types": {}, "strides": {}, "alias_of": {}, "mutated": []}
    for entry in signature["tensors"]:
        role = entry["role"].replace("TENSOR_ROLE_", "").lower()
        roles[role] = roles.get(role, 0) + 1
        if role == "output":
            facts["outputs"][entry["name"]] = f"{entry['dtype']}{entry['shape']}".replace(" ", "")
        if role == "input" and entry["dtype"] != "float32":
            facts["input_types"][entry["name"]] = entry["dtype"]
        if entry["strides"] != _contiguous(entry["shape"]):
            facts["strides"][entry["name"]] = entry["strides"]
        if entry.get("alias_of"):
            facts["alias_of"][entry["name"]] = entry["alias_of"]
        if entry.get("mutated"):
            facts["mutated"].append(entry["name"])
    facts.update(tensors=roles, family=signature["operator_family"], degenerate=signature["degenerate"],
                 frozen={entry["name"]: entry["json_value"] for entry in signature["frozen_arguments"]})
    return facts


def _compare_flops(expected, flops, exact):
    if "flops" in expected:
        wanted = value_of(expected["flops"])
        if abs(flops - wanted) > (0 if exact else 0.1) * wanted:
            yield f"algorithm_flops is {flops:.0f}, and {expected['flops']} = {wanted}"
    if "flops_from" in expected:
        least = value_of(expected["flops_from"])
        most = least * expected["flops_factor"]
        if not least <= flops <= most:
            yield f"algorithm_flops is {flops:.0f}, and not between {least:.0f} and {most:.0f}"


def differences(expected, reply, exact_flops):
    """What is not as expected, as sentences. exact_flops: operations dispatched are those of the version at hand."""
    if "error_kind" in expected:
        if not reply.get("error"):
            return [f"taken in, and {expected['error_kind']} was expected"]
        wrong = [] if reply["kind"] == expected["error_kind"] else [
            f"refused as {reply['kind']} and not as {expected['error_kind']}: {reply['message']}"]
        return wrong + [f"{word!r} is not in the message: {reply['message']}" for word in expected.get("words", ())
                        if word not in reply["message"]]
    if reply.get("error"):
        return [f"refused ({reply['kind']}): {reply['message']}"]
    signature = reply["signature"]
    facts = _facts(signature)
    whole = "tensors" in expected  # what eval mode changes is told alone
    wrong = []
    for field in ("family", "tensors", "outputs", "degenerate"):
        if field in expected and facts[field] != expected[field]:
            wrong.append(f"{field} is {facts[field]}, and not {expected[field]}")
    for field, none in (("input_types", {}), ("strides", {}), ("alias_of", {}), ("frozen", {}), ("mutated", [])):
        if (whole or field in expected) and facts[field] != expected.get(field, none):
            wrong.append(f"{field} is {facts[field]}, and not {expected.get(field, none)}")
    for field in ("distributions", "trivial_passes"):
        missing = [name for name in expected.get(field, ()) if name not in signature[field]]
        if missing:
            wrong.append(f"{field} lacks {', '.join(missing)}: {signature[field]}")
    if expected.get("trivial_passes") == [] and signature["trivial_passes"]:
        wrong.append(f"trivial_passes is {signature['trivial_passes']}, and none was expected")
    if "bytes" in expected and signature["algorithm_bytes"] != value_of(expected["bytes"]):
        wrong.append(f"algorithm_bytes is {signature['algorithm_bytes']}, and {expected['bytes']} = "
                     f"{value_of(expected['bytes'])}")
    if bool(signature["degenerate_reason"]) != signature["degenerate"]:
        wrong.append("degenerate and its reason do not go together")
    if signature["bytes_full"] < signature["bytes_min"] or signature["bytes_min"] < signature["algorithm_bytes"]:
        wrong.append(f"bytes_full {signature['bytes_full']}, bytes_min {signature['bytes_min']} and algorithm_bytes "
                     f"{signature['algorithm_bytes']} do not go down")
    return wrong + list(_compare_flops(expected, signature["algorithm_flops"], exact_flops))
