"""Honest candidates in any number, every source different: the templates of candidates/ with their values varied.

    python3 benchmarks/candidates.py WORKLOAD COUNT FOLDER

writes COUNT files into FOLDER. Where a template has fewer combinations than COUNT, they come again with another number
in the constant kVariant, so that each is compiled anew.
"""

import itertools
import os
import sys

_HERE = os.path.dirname(os.path.abspath(__file__))
_ROOT = os.path.dirname(_HERE)

_LOADS = ["__ldg", "__ldcs"]
_STORES = ["__stcs", "__stwt"]


def _product(**axes):
    names = list(axes)
    return [dict(zip(names, values)) for values in itertools.product(*axes.values())]


def _softmax(rows, columns, held):
    """`held`: most float4 of a row that a thread keeps."""
    registers = [
        dict(values, template="softmax_registers", ROWS=rows, COLUMNS=columns)
        for values in _product(THREADS=[1024, 512, 256, 128], LOAD=_LOADS, STORE=_STORES)
        if columns % (4 * values["THREADS"]) == 0 and columns // (4 * values["THREADS"]) <= held
    ]
    two_pass = [
        dict(values, template="softmax_two_pass", ROWS=rows, COLUMNS=columns)
        for values in _product(THREADS=[1024, 512, 256], UNROLL=[2, 4], LOAD=_LOADS, STORE=_STORES)
        if columns % (4 * values["THREADS"]) == 0
    ]
    # In turn, so that the first few already show both.
    mixed = [choice for pair in zip(registers, two_pass) for choice in pair]
    return mixed + registers[len(two_pass) :] + two_pass[len(registers) :]


def _layer_norm(batch, length, splits, position_blocks):
    return [
        dict(values, template="layer_norm_two_kernels", BATCH=batch, LENGTH=length)
        for values in _product(
            SPLITS=splits, POSITION_BLOCKS=position_blocks, THREADS=[256, 512], UNROLL=[2, 4, 8], LOAD=["__ldcs"],
            STORE=_STORES
        )
        if length % (4 * values["SPLITS"] * values["THREADS"]) == 0
        and length // 4 % (values["POSITION_BLOCKS"] * values["THREADS"]) == 0
    ]


def _matmul(size, names, tiles):
    return [
        dict(zip(["BM", "BN", "BK", "TM", "TN"], tile), template="matmul_register_tile", M=size, N=size, K=size,
             PAD=pad, A=names[0], B=names[1])
        for pad in (4, 8)
        for tile in tiles
    ]


_BIG_TILES = [(128, 128, 8, 8, 8), (128, 128, 16, 8, 8), (128, 64, 16, 8, 4), (64, 128, 16, 4, 8), (64, 64, 16, 4, 4),
              (256, 128, 8, 16, 8), (128, 256, 8, 8, 16)]
_SMALL_TILES = [(64, 64, 16, 4, 4), (32, 64, 16, 4, 4), (64, 32, 16, 4, 4), (32, 32, 16, 4, 4)]

# Name: problem file, and the values of its candidates, best guess first.
WORKLOADS = {
    "softmax": ("tests/problems/headline/softmax_4096_65536.py", lambda: _softmax(4096, 65536, 32)),
    "matmul": ("tests/problems/headline/matmul_4096.py", lambda: _matmul(4096, ("a", "b"), _BIG_TILES)),
    "layer_norm": ("tests/problems/headline/layer_norm_16_64_256_256.py",
                   lambda: _layer_norm(16, 64 * 256 * 256, [128, 64, 256], [512, 1024, 2048])),
    "small_softmax": ("benchmarks/problems/softmax_128_1024.py", lambda: _softmax(128, 1024, 8)),
    # The same templates at sizes that the emulated device runs in a moment.
    "emulated_softmax": ("tests/problems/softmax.py", lambda: _softmax(64, 4096, 16)),
    "emulated_matmul": ("tests/problems/matmul.py", lambda: _matmul(256, ("A", "B"), _SMALL_TILES)),
    "emulated_layer_norm": ("tests/problems/layer_norm.py", lambda: _layer_norm(16, 16 * 64 * 64, [8, 16], [8, 16])),
}


def problem_file(workload):
    return os.path.join(_ROOT, WORKLOADS[workload][0])


def source(values, variant):
    with open(os.path.join(_HERE, "candidates", values["template"] + ".cu.in"), encoding="utf-8") as file:
        text = file.read()
    for name, value in dict(values, VARIANT=variant).items():
        text = text.replace(f"@{name}@", str(value))
    if "@" in text:
        raise ValueError(f"{values['template']}: a value is missing after {text.split('@', 1)[0][-40:]!r}")
    return text


def sources(workload, count, first=0):
    """`count` different sources; `first` moves the numbers on, so that nothing is in any cache."""
    combinations = WORKLOADS[workload][1]()
    return [source(combinations[i % len(combinations)], first + i // len(combinations)) for i in range(count)]


def write(workload, count, folder, first=0):
    os.makedirs(folder, exist_ok=True)
    paths = []
    for i, text in enumerate(sources(workload, count, first)):
        paths.append(os.path.join(folder, f"{workload}_{i:04d}.cu"))
        with open(paths[-1], "w", encoding="utf-8") as file:
            file.write(text)
    return paths


if __name__ == "__main__":
    if len(sys.argv) != 4 or sys.argv[1] not in WORKLOADS:
        sys.exit(f"usage: candidates.py {{{','.join(WORKLOADS)}}} COUNT FOLDER")
    for written in write(sys.argv[1], int(sys.argv[2]), sys.argv[3]):
        print(written)
