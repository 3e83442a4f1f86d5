#!/usr/bin/env bash
# What one verdict costs on this machine, beside the floor of every harness that starts PyTorch for each candidate: the
# seconds that importing it takes. Both in one run; the ratio is the figure.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
exec /usr/bin/python3 benchmarks/evaluate.py "$@"
