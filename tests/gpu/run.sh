#!/usr/bin/env bash
# Everything that needs a GPU, in under nine minutes, on this machine: prints what failed and a table.
#
#   WARPSMITH_BUNDLE=FOLDER_OR_ARCHIVE tests/gpu/run.sh [--seconds 530] [--rounds 1] [--soak 120] [--bench 40]
#                                                      [--resume] [PART...]
#
# WARPSMITH_BUNDLE is a build folder (default build/dev) or an archive of `./dev bundle --gpu-tests`. PARTs, in order:
# device oracle intake executor library profile corpus headline bench repeat soak (default: all). --seconds bounds all
# of it together, --rounds is how often the corpora run, --soak the number of candidates in a row, --bench the number of
# candidates of each workload. --resume goes on where an earlier corpus or bench with the same $OUT was cut off: three
# rounds of the corpora take more than ten minutes, so run.sh --seconds 590 --rounds 3 --resume corpus, twice.
# Whole logs: $OUT, or build/gpu-results. The exit status is 0 where every check of every part passed.
set -uo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cd "$root" || exit 2

seconds=530 rounds=1 soak=120 bench=40 resume="" device=${WARPSMITH_GPU:-0}
corpus_round_seconds=205  # on an H200
parts=()
while [ $# -gt 0 ]; do
  case $1 in
    --seconds) seconds=$2; shift 2 ;;
    --rounds) rounds=$2; shift 2 ;;
    --resume) resume=yes; shift ;;
    --soak) soak=$2; shift 2 ;;
    --bench) bench=$2; shift 2 ;;
    -h | --help) sed -n '2,12s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 0 ;;
    -*) echo "$0: no option $1; see --help" >&2; exit 2 ;;
    *) parts+=("$1"); shift ;;
  esac
done
[ ${#parts[@]} -gt 0 ] || parts=(device oracle intake executor library profile corpus headline bench repeat soak)

out=${OUT:-$root/build/gpu-results}
mkdir -p "$out"
work=$(mktemp -d "${TMPDIR:-/tmp}/warpsmith-gpu.XXXXXX")
trap 'rm -rf "$work"' EXIT

bundle=${WARPSMITH_BUNDLE:-$root/build/dev}
if [ -f "$bundle" ]; then
  mkdir "$work/bundle"
  tar -C "$work/bundle" --strip-components=1 -xf "$bundle" || { echo "$0: $bundle is no archive" >&2; exit 2; }
  bundle=$work/bundle
fi
if [ ! -x "$bundle/bin/warpsmith" ]; then
  echo "$0: $bundle has no bin/warpsmith; build with ./dev build, or name an archive of ./dev bundle --gpu-tests" >&2
  exit 2
fi
export WARPSMITH_BIN_DIR=$bundle/bin WARPSMITH_GPU=$device OUT=$out
export PATH=$bundle/bin:$PATH XDG_CACHE_HOME=$work/cache PYTHONUNBUFFERED=1
python=${WARPSMITH_PYTHON:-python3}

# The test program of a part, wherever this build or bundle keeps it.
program() {
  local folder
  for folder in gpu_tests tests; do
    if [ -x "$bundle/$folder/$1_gpu_test" ]; then echo "$bundle/$folder/$1_gpu_test"; return; fi
  done
}

# What a part runs, one command a line.
commands() {
  case $1 in
    device)
      printf '%s\n' "warpsmith doctor"
      [ -z "$(program device)" ] || program device
      ;;
    library)
      program library
      # What loading the libraries costs with and without eager loading of their kernels.
      [ -z "$(program library)" ] || printf '%s\n' "env CUDA_MODULE_LOADING=LAZY $(program library) --startup" \
        "env CUDA_MODULE_LOADING=EAGER $(program library) --startup"
      ;;
    intake)
      printf '%s\n' "$python tests/gpu/kernelbench/run.py --timings --at-once 8 --device cuda:$device tests/problems/forms \
tests/problems/headline"
      ;;
    executor)
      program executor
      printf '%s\n' "$python tests/gpu/executor/context_cost.py --times 3"
      ;;
    corpus)
      printf '%s\n' "$python tests/gpu/corpus/run.py --warpsmith $bundle/bin/warpsmith --rounds $rounds --device $device \
--record $out/corpus.json ${resume:+--skip-done $out/corpus.json}"
      ;;
    headline) printf '%s\n' "$python tests/gpu/headline.py" ;;
    bench) printf '%s\n' "benchmarks/evaluate.sh --count $bench --seconds 130 --json $out/bench.json \
${resume:+--skip-done $out/bench.json}" ;;
    repeat) printf '%s\n' "$python tests/gpu/repeatability.py" ;;
    soak) printf '%s\n' "$python tests/gpu/soak.py --count $soak" ;;
    *)
      if [ -x "tests/gpu/$1/run.sh" ]; then printf '%s\n' "tests/gpu/$1/run.sh"; fi
      if [ -f "tests/gpu/$1/run.py" ]; then printf '%s\n' "$python tests/gpu/$1/run.py"; fi
      program "$1"
      ;;
  esac
}

# Seconds that a part may take.
allowance() {
  case $1 in
    corpus) echo $((rounds * corpus_round_seconds)) ;;
    headline) echo 330 ;;
    intake) echo 150 ;;
    catalog | results | search) echo 240 ;;
    host_code) echo 110 ;;
    bench | repeat | soak) echo 150 ;;
    *) echo 90 ;;
  esac
}

failed_parts=0
table=$work/table
printf '%-10s %7s %7s %7s %8s  %s\n' part checks ok failed seconds note >"$table"
{
  date -u
  nvidia-smi 2>&1 || echo "no nvidia-smi"
  uname -a
} >"$out/full.log"

for part in "${parts[@]}"; do
  log=$work/$part.log
  started=$SECONDS
  note=""
  mapfile -t lines < <(commands "$part")
  : >"$log"
  if [ ${#lines[@]} = 0 ]; then
    note="no such test in this build"
  fi
  for line in "${lines[@]}"; do
    left=$((seconds - SECONDS))
    limit=$(allowance "$part")
    [ "$limit" -le "$left" ] || limit=$left
    if [ "$limit" -lt 5 ]; then note="no time was left"; break; fi
    echo "== $line" >>"$log"
    # shellcheck disable=SC2086  # words of a command of ours
    timeout --kill-after=10 "$limit" $line >>"$log" 2>&1
    status=$?
    if [ $status = 124 ] || [ $status = 137 ]; then
      note="did not end in $limit s"
    elif [ $status != 0 ]; then
      note="${note:+$note, }exit status $status"
    fi
  done
  good=$(grep -c '^ok\b' "$log")
  bad=$(grep -c '^FAILED' "$log")
  if [ "$bad" != 0 ] || [ -n "$note" ]; then
    failed_parts=$((failed_parts + 1))
    echo "---- $part: ${note:-failed checks}"
    grep -n '^FAILED' "$log" | head -12 | cut -c1-400
    [ "$bad" != 0 ] || tail -8 "$log" | cut -c1-400
  fi
  printf '%-10s %7d %7d %7d %8d  %s\n' "$part" $((good + bad)) "$good" "$bad" $((SECONDS - started)) "$note" >>"$table"
  { echo; echo "######## $part"; cat "$log"; } >>"$out/full.log"
done

# Figures worth reading even where all passed.
for part in library headline bench repeat soak; do
  [ -f "$work/$part.log" ] || continue
  echo "---- $part"
  grep -E '^(ok|FAILED) +(time|after)|^figures|^  ' "$work/$part.log" | tail -24 | cut -c1-200
done
echo
tee "$out/table.txt" <"$table"
echo "whole logs: $out/full.log"
[ "$failed_parts" = 0 ]
