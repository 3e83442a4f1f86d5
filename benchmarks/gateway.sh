#!/usr/bin/env bash
# What the gateway adds to a call of a model: latency at 500 requests a second, requests a second with 50, 200 and 1,000
# under way, time to the first chunk with 1,000 streams open, CPU a request and resident memory; direct beside through
# the gateway's layers in one process (GuardedModel and HttpModel) beside through its RPC (a stream a call, and all calls
# over one stream), with the CPU that each process takes a request, in one run, on two cores that
# client, gateway and a local model server (a fake, in C++) share.
# Options: --seconds N of each measurement (default 3), --json, --json-file FILE.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
bin=${WARPSMITH_BIN_DIR:-$PWD/build/dev/bin}
export WARPSMITH_BIN_DIR=$bin
export WARPSMITH_LOG=${WARPSMITH_LOG:-warn}
ulimit -n "$(ulimit -Hn)"
pin=()
[ "$(nproc)" -le 2 ] || pin=(taskset -c 0-1)
exec "${pin[@]}" "$bin/../benchmarks/bench_gateway" "$@"
