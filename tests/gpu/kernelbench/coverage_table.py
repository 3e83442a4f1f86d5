#!/usr/bin/env python3
"""Checks the tables of docs/kernelbench.md: what becomes of each of KernelBench's 250 problems, and which file of
tests/problems/forms proves it.

- "Verdicts": each problem of levels 1 to 3 stands in exactly one row, and the row's files come to that verdict in the
  manifest.
- "Forms": each problem stands in at least one row, and each row names files of the manifest.
- Rows whose meaning shows in kernelbench-h200.tsv (shapes, types, changed buffers) name exactly the problems that have
  it there.
- "Memory": the figures are those of the shapes.

Without arguments: checks and prints the counts. --memory: prints the rows of the memory table.
"""

import csv
import json
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
DOCUMENT = os.path.join(SOURCE, "docs", "kernelbench.md")
MANIFEST = os.path.join(SOURCE, "tests", "problems", "forms", "manifest.json")
SHAPES = os.path.join(HERE, "kernelbench-h200.tsv")
SIZES = {1: 100, 2: 100, 3: 50}
_GIB = 1 << 30
_WIDTHS = {"float32": 4, "int64": 8, "bool": 1}
# Where the memory table begins: float64 whole, in GiB.
MEMORY_FROM = 40.0

# Row of the forms table -> whether a row of the measured shapes belongs to it.
_BY_SHAPE = {
    "int64 targets": lambda row: "int64" in row["inputs"],
    "boolean mask": lambda row: "bool" in row["inputs"],
    "Python number as an argument": lambda row: re.search(r" float(?!\d)", row["inputs"]) is not None,
    "one number as the result": lambda row: row["outputs"] == "float32[]",
    "int64 result": lambda row: "int64" in row["outputs"],
    "result that is not contiguous": lambda row: "strided" in row["outputs"],
    "batch normalisation in training mode": lambda row: row["buffers_changed"] != "0",
    "tensor attributes": lambda row: row["attributes"] != "-",
}


def shapes():
    with open(SHAPES, encoding="utf-8") as file:
        lines = [line for line in file if not line.startswith("#")]
    return {(int(row["level"]), int(row["id"])): row for row in csv.DictReader(lines, delimiter="\t")}


def _bytes(text):
    total = 0
    for dtype, shape in re.findall(r"(\w+)\[([\d,]*)\]", text):
        count = 1
        for side in filter(None, shape.split(",")):
            count *= int(side)
        total += count * _WIDTHS[dtype]
    return total


def memory(row):
    """(inputs, weights, outputs, least, whole) in GiB. least: inputs, weights, and the output of the candidate and the
    answer; whole: and float64 copies of inputs and weights, and a float64 answer."""
    inputs, outputs, weights = _bytes(row["inputs"]), _bytes(row["outputs"]), 4 * int(row["parameters"])
    least = inputs + weights + 2 * outputs
    whole = least + 2 * (inputs + weights + outputs)
    return tuple(value / _GIB for value in (inputs, weights, outputs, least, whole))


def memory_rows():
    """The table's rows, equal ones joined."""
    groups = {}
    for (level, number), row in shapes().items():
        _, _, _, least, whole = memory(row)
        if whole >= MEMORY_FROM:
            groups.setdefault((level, f"{least:.1f}", f"{whole:.1f}"), []).append(number)
    ordered = sorted(groups.items(), key=lambda item: (-float(item[0][2]), item[0][0], item[1]))
    return [f"| {level} | {numbers_text(numbers)} | {least} | {whole} |" for (level, least, whole), numbers in ordered]


def numbers_text(numbers):
    """[1, 2, 3, 7] as "1–3, 7"."""
    parts, numbers = [], sorted(numbers)
    while numbers:
        last = 0
        while last + 1 < len(numbers) and numbers[last + 1] == numbers[last] + 1:
            last += 1
        parts.append(str(numbers[0]) if last == 0 else f"{numbers[0]}{'–' if last > 1 else ', '}{numbers[last]}")
        numbers = numbers[last + 1:]
    return ", ".join(parts)


def numbers_of(text):
    """The opposite of numbers_text."""
    numbers = []
    for part in filter(None, (piece.strip() for piece in text.split(","))):
        first, _, last = part.partition("–")
        numbers += range(int(first), int(last or first) + 1)
    return numbers


def _table(text, heading):
    """Rows below a heading as lists of cells, the table's own heading left out."""
    section = text.split(f"## {heading}\n", 1)[-1].split("\n## ", 1)[0]
    rows = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in section.splitlines()
            if line.startswith("|")]
    return rows[2:]


def _files(cell):
    return [name + ".py" for name in re.findall(r"`(\w+)`", cell)]


def _verdict_fits(verdict, entry):
    if verdict == "refused":
        return "error_kind" in entry
    if "error_kind" in entry:
        return False
    if verdict == "degenerate":
        return entry["degenerate"]
    if verdict == "weak inputs":
        return not entry["degenerate"] and bool(entry["trivial_passes"])
    return not entry["degenerate"]


def _check_verdicts(text, manifest):
    """(counts by level, what is wrong)."""
    counts, wrong, seen = {level: {} for level in SIZES}, [], {}
    for verdict, *columns, files, _ in _table(text, "Verdicts"):
        for level, cell in zip(SIZES, columns):
            numbers = numbers_of(cell)
            counts[level][verdict] = counts[level].get(verdict, 0) + len(numbers)
            for number in numbers:
                if (level, number) in seen:
                    wrong.append(f"level {level} #{number} is {seen[level, number]} and {verdict}")
                seen[level, number] = verdict
        for file in _files(files):
            if file not in manifest:
                wrong.append(f"{file} is not in the manifest")
            elif not _verdict_fits(verdict, manifest[file]):
                wrong.append(f"{file} does not come to {verdict}")
    for level, size in SIZES.items():
        missing = [number for number in range(1, size + 1) if (level, number) not in seen]
        if missing:
            wrong.append(f"level {level} #{numbers_text(missing)} has no verdict")
        wrong += [f"there is no level {level} #{number}" for at, number in seen if at == level and number > size]
    return counts, wrong


def _check_forms(text, manifest):
    wrong, covered, rows = [], set(), _table(text, "Forms")
    measured = shapes()
    for form, *columns, files in rows:
        members = {(level, number) for level, cell in zip(SIZES, columns) for number in numbers_of(cell)}
        covered |= members
        named = _files(files)
        if not named:
            wrong.append(f"{form}: no file proves it")
        wrong += [f"{form}: {file} is not in the manifest" for file in named if file not in manifest]
        if form in _BY_SHAPE:
            wanted = {key for key, row in measured.items() if _BY_SHAPE[form](row)}
            if wanted != members:
                wrong.append(f"{form}: the measured shapes have {sorted(wanted)}, and the table {sorted(members)}")
    absent = set(_BY_SHAPE) - {row[0] for row in rows}
    wrong += [f"there is no row {form!r}" for form in sorted(absent)]
    missing = sorted(set(measured) - covered)
    if missing:
        wrong.append(f"no form covers {missing}")
    return wrong


def check(document=DOCUMENT):
    """(counts by level and verdict, what is wrong as sentences)."""
    with open(document, encoding="utf-8") as file:
        text = file.read()
    with open(MANIFEST, encoding="utf-8") as file:
        manifest = json.load(file)
    counts, wrong = _check_verdicts(text, manifest)
    wrong += _check_forms(text, manifest)
    told = ["| " + " | ".join(row) + " |" for row in _table(text, "Memory")]
    if told != memory_rows():
        wrong.append("the memory table is not that of the shapes: run coverage_table.py --memory")
    return counts, wrong


def main(arguments):
    if arguments == ["--memory"]:
        print("\n".join(memory_rows()))
        return 0
    counts, wrong = check()
    for level, verdicts in counts.items():
        told = ", ".join(f"{count} {verdict}" for verdict, count in verdicts.items() if count)
        print(f"level {level}: {told}; {sum(verdicts.values())} in all")
    for sentence in wrong:
        print(f"docs/kernelbench.md: {sentence}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
