#!/usr/bin/env bash
# What a backlog of distinct candidates costs: candidates an hour, seconds each, the share of the wall time in which the
# GPU validates or times, and where the seconds go; beside it what a harness pays that starts PyTorch for each candidate,
# measured in the same run. On a GPU: softmax (4096, 65536), matmul 4096, layer norm (16, 64, 256, 256) and a small
# softmax. Without one: the small softmax on the emulated device, for at most a minute.
# Each verdict is a line as it comes, and in the --json FILE, so that a run that is cut off shows what it did.
# Options: --count N, --workload NAME, --device N, --json FILE, --skip-done FILE.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# Starting PyTorch is the peer, so the Python that has it.
python=${WARPSMITH_PYTHON:-python3}
"$python" -c 'import importlib.util, sys; sys.exit(importlib.util.find_spec("torch") is None)' || python=/usr/bin/python3
exec "$python" benchmarks/evaluate.py "$@"
