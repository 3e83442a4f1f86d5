#!/usr/bin/env python3
"""Writes dashboards/*.json from generator/ and queries/. `--check` writes nothing and fails where a file is out of step."""
import json
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.dont_write_bytecode = True

from generator import batch, fleet, models, queue_and_database, search  # noqa: E402

DASHBOARDS = {
    "search": search,
    "batch": batch,
    "fleet": fleet,
    "models": models,
    "queue-and-database": queue_and_database,
}


def rendered():
    """Text of each file by its name."""
    return {
        f"{name}.json": json.dumps(module.build(), indent=2, ensure_ascii=False) + "\n"
        for name, module in DASHBOARDS.items()
    }


def main():
    stale = []
    for name, text in rendered().items():
        path = HERE / "dashboards" / name
        if path.exists() and path.read_text(encoding="utf-8") == text:
            continue
        stale.append(name)
        if "--check" not in sys.argv[1:]:
            path.write_text(text, encoding="utf-8")
    if stale and "--check" in sys.argv[1:]:
        sys.exit(f"out of step: {', '.join(stale)}; run deploy/grafana/generate.py")


if __name__ == "__main__":
    main()
