#!/usr/bin/env bash
# What the coordinator can take on two cores that it shares with PostgreSQL (its own server, set up as deploy/ does, default
# durability) and with 1,000 simulated workers on real streams: fenced results a second, insert to start at the worker,
# memory, WAL and dead tuples a result; kill -9 of workers with tasks in hand; 100 searches replayed to their end; and
# results, latencies and searches again with 1,000,000 candidates in the tables. About 30 minutes; progress comes as it
# runs. Reserve huge pages for PostgreSQL's buffers before: sysctl -w vm.nr_hugepages=1400.
# Options: --seconds N (default 300), --workers N, --slots N, --rows N, --searches N, --only PART, --all-before,
# --statements, --postgres-defaults, --json, --json-file FILE, --help.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
bin=${WARPSMITH_BIN_DIR:-$PWD/build/dev/bin}
export WARPSMITH_BIN_DIR=$bin
export WARPSMITH_LOG=${WARPSMITH_LOG:-warn}
ulimit -n "$(ulimit -Hn)"
pin=()
[ "$(nproc)" -le 2 ] || pin=(taskset -c 0-1)
exec "${pin[@]}" "$bin/../benchmarks/bench_coordinator" "$@"
