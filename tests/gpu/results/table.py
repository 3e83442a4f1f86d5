#!/usr/bin/env python3
"""Prints the table of docs/results.md from the records of run.py.

    table.py RECORD.json...
"""

import argparse
import json
import pathlib
import sys

GOALS = {"matmul_4096": 2.5, "conv2d_11x11": 5, "softmax_4096_65536": 1.8, "layer_norm_16_64_256_256": 45,
         "conv2d_relu_max_pool": 6, "matmul_fp16_4096": 1.02, "attention_fp16": 1.05}


def fastest(row, prefix):
    """Of the baselines of a kind, with its class where that is looser than ours."""
    found = [one for one in row["baselines"] if one["name"].startswith(prefix)]
    if not found:
        return "–"
    one = min(found, key=lambda baseline: baseline["ms"])
    looser = "" if one["class"] in ("", row["class"]) else f" ({one['class']})"
    return f"{one['ms']:.4f}{looser}"


def line(row):
    share = row["roofline"].get("share")
    bound = f"{100 * float(share):.0f} % of {row['roofline'].get('bound')}" if share else "–"
    library = fastest(row, "library")
    return (f"| {row['problem']} | {row['eager_ms']:.4f} | {fastest(row, 'compile')} | {library} | **{row['ms']:.4f}** | "
            f"{row['class']} | **{row['ratio']:.2f}×** ({row['low']:.2f} to {row['high']:.2f}) | "
            f"{GOALS.get(row['problem'], '–')} | {bound} | `{row['idea']}` {row['setting']} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("records", nargs="+")
    rows = [row for name in parser.parse_args().records
            for row in json.loads(pathlib.Path(name).read_text(encoding="utf-8"))["rows"]]
    if not rows:
        sys.exit("no row in these records; run run.py on a GPU first")
    for where in dict.fromkeys(f"{row['card']}, driver {row['driver']}, {row['power']}, PyTorch {row['pytorch']}, "
                               f"{row['date']}" for row in rows):
        print(where)
    print("\n| problem | eager ms | torch.compile ms | library ms | ours ms | class | ratio to eager (95 %) | goal | roofline | "
          "recipe |\n|---|---|---|---|---|---|---|---|---|---|")
    for row in sorted(rows, key=lambda one: (list(GOALS).index(one["problem"]) if one["problem"] in GOALS else 99,
                                             one["class"])):
        print(line(row))


if __name__ == "__main__":
    main()
