#!/usr/bin/env bash
# Builds the fuzzers with clang in build/fuzz and runs each for a time. What they find lies in build/fuzz/found; inputs
# that reach new code go to build/fuzz/corpus, the seeds in fuzz/corpus stay as they are.
#   fuzz/run.sh [SECONDS] [--keep] [NAME...]      NAME: sse_parser, code_reply, idea_reply, plan; default: all
#   --keep adds what reached new code to fuzz/corpus, as few inputs as do
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
seconds=300
keep=0
names=()
while [ $# -gt 0 ]; do
  case $1 in
    --seconds) seconds=${2:?--seconds needs a number}; shift ;;
    [0-9]*) seconds=$1 ;;
    --keep) keep=1 ;;
    -h | --help) sed -n '2,6s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 0 ;;
    -*) echo "fuzz/run.sh: no option '$1'" >&2; exit 2 ;;
    *) names+=("$1") ;;
  esac
  shift
done
[ ${#names[@]} -gt 0 ] || names=(sse_parser code_reply idea_reply plan)
for name in "${names[@]}"; do
  if [ ! -d "fuzz/corpus/$name" ]; then
    echo "fuzz/run.sh: no fuzzer '$name'; there are: $(cd fuzz/corpus && echo *)" >&2
    exit 2
  fi
done
compiler=$(command -v clang++-14 || command -v clang++ || true)
if [ -z "$compiler" ]; then
  echo "fuzz/run.sh: needs clang: apt-get install clang-14, or ./dev fuzz, which installs it" >&2
  exit 1
fi

build=build/fuzz
export CCACHE_DIR=${CCACHE_DIR:-$PWD/build/ccache} CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1
cmake --log-level=WARNING -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=None "-DCMAKE_CXX_COMPILER=$compiler" \
  -DCMAKE_C_COMPILER="${compiler/clang++/clang}" -DWARPSMITH_PARTS=fuzz -DWARPSMITH_FUZZ=ON -DBUILD_TESTING=OFF
cmake --build "$build" --target "${names[@]/%/_fuzzer}"

failed=()
for name in "${names[@]}"; do
  work=$build/corpus/$name
  found=$build/found/$name
  mkdir -p "$work" "$found"
  dictionary=()
  [ -e "fuzz/$name.dict" ] && dictionary=("-dict=fuzz/$name.dict")
  printf '== %s, %s s\n' "$name" "$seconds" >&2
  "$build/bin/${name}_fuzzer" "-max_total_time=$seconds" -timeout=10 -rss_limit_mb=2048 -max_len=65536 \
    -print_final_stats=1     "${dictionary[@]}" "-artifact_prefix=$found/" "$work" "fuzz/corpus/$name" \
    >"$build/$name.log" 2>&1 || failed+=("$name")
  grep -E '^stat::(number_of_exec|average_exec|peak_rss)|ERROR|SUMMARY|does not hold|runtime error' \
    "$build/$name.log" >&2 || true
  if [ $keep = 1 ]; then "$build/bin/${name}_fuzzer" -merge=1 "fuzz/corpus/$name" "$work" >/dev/null 2>&1; fi
done
if [ ${#failed[@]} -gt 0 ]; then
  echo "fuzz/run.sh: found something: ${failed[*]}; see build/fuzz/NAME.log, the input is in build/fuzz/found/NAME/" >&2
  exit 1
fi
