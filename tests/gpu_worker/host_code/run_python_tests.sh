#!/bin/sh
# The driver's Python tests, by the first Python here that has PyTorch (as the worker chooses it).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
for python in ${WARPSMITH_PYTHON:-python3 /usr/bin/python3}; do
  if "$python" -c 'import torch' 2>/dev/null; then
    cd "$here"
    exec "$python" -B -W ignore::ResourceWarning -m unittest "$@"
  fi
done
echo "no Python here can import PyTorch: install python3-torch, or set WARPSMITH_PYTHON" >&2
exit 1
