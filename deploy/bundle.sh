#!/usr/bin/env bash
# bundle.sh [--services] BUILD_FOLDER OUTPUT_FOLDER [PROGRAM...]: one archive of built programs with every shared library
# they need but libc's family and CUDA's, for machines that have only the NVIDIA driver, a CUDA toolkit and PyTorch.
# --services carries the coordinator, the gateway and this machine's PostgreSQL 15 too, so that `warpsmith run` searches
# there with nothing installed.
# Each further PROGRAM or file (a path, such as build/dev/gpu_tests/some_test) is carried in gpu_tests/. Prints the
# archive's path.
set -euo pipefail
services=""
if [ "${1:-}" = --services ]; then
  services=yes
  shift
fi
if [ $# -lt 2 ]; then
  echo "usage: $0 [--services] BUILD_FOLDER OUTPUT_FOLDER [PROGRAM...]" >&2
  exit 2
fi
build=$(realpath "$1")
mkdir -p "$2"
output=$(realpath "$2")
shift 2
source_folder=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

# Without these nothing can be evaluated; the others are carried where this build has them.
needed=(warpsmith warpsmith-worker warpsmith-executor warpsmith-compiler)
optional=(warpsmith-profiler warpsmith-canary warpsmith-host-code)
[ -z "$services" ] || needed+=(warpsmith-coordinator warpsmith-gateway)
# Every Linux with glibc has these; another libc's would not go with its loader.
from_the_system='^(ld-linux.*|libc|libm|libmvec|libpthread|libdl|librt|libresolv|libutil|libanl|libnss_.*|linux-vdso)\.so'
from_the_driver='^(libcuda|libcudart|libnv.*|libcublas.*|libcudnn.*|libcupti|libcurand|libcufft|libcusparse|libcusolver|libnccl)\.so'

version=$(sed -n 's/.*kVersion\[\] = "\(.*\)".*/\1/p' "$source_folder/common/version.h")
name=warpsmith-bundle-$version
work=$(mktemp -d "${TMPDIR:-/tmp}/warpsmith-bundle.XXXXXX")
trap 'rm -rf "$work"' EXIT
stage=$work/$name
mkdir -p "$stage/bin" "$stage/lib" "$stage/gpu_tests"

carry() {  # carry FILE FOLDER: a stripped copy
  install -m 755 "$1" "$stage/$2/"
  strip --strip-unneeded "$stage/$2/$(basename "$1")"
}

for program in "${needed[@]}"; do
  if [ ! -x "$build/bin/$program" ]; then
    echo "$0: $build/bin/$program is not built; run ./dev build" >&2
    exit 1
  fi
  carry "$build/bin/$program" bin
done
for program in "${optional[@]}"; do
  [ ! -x "$build/bin/$program" ] || carry "$build/bin/$program" bin
done
is_elf() { [ "$(head -c 4 "$1" | tr -d '\0')" = $'\x7fELF' ]; }
for program in "$@"; do
  if is_elf "$program"; then carry "$program" gpu_tests; else install -m 755 "$program" "$stage/gpu_tests/"; fi
done

# PostgreSQL finds its share/ and lib/ relative to where its programs lie, so its own layout is kept; its programs are
# wrapped, since they look for libraries in the system's folders alone.
if [ -n "$services" ]; then
  postgres=usr/lib/postgresql/15
  if [ ! -x "/$postgres/bin/postgres" ]; then
    echo "$0: /$postgres/bin has no postgres; run ./dev setup" >&2
    exit 1
  fi
  mkdir -p "$stage/$postgres/bin" "$stage/$postgres/programs" "$stage/$postgres/lib" "$stage/usr/share/postgresql"
  for program in postgres initdb psql pg_dump pg_restore; do
    carry "$(realpath "/$postgres/bin/$program")" "$postgres/programs"
    cat >"$stage/$postgres/bin/$program" <<'SH'
#!/bin/bash
folder=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
export LD_LIBRARY_PATH=$folder/../../../../../lib
exec -a "$folder/$(basename "$0")" "$folder/../programs/$(basename "$0")" "$@"
SH
    chmod 755 "$stage/$postgres/bin/$program"
  done
  for module in plpgsql dict_snowball pg_stat_statements pgstattuple libpqwalreceiver; do
    carry "/$postgres/lib/$module.so" "$postgres/lib"
  done
  cp -r /usr/share/postgresql/15 "$stage/usr/share/postgresql/15"
  rm -rf "$stage/usr/share/postgresql/15/man"
fi

# "SONAME FILE" of each shared library that the carried programs load; ldd follows the libraries' own needs too.
loaded() {
  find "$stage" -path "$stage/share" -prune -o -path "$stage/usr/share" -prune -o -path "$stage/lib" -prune -o \
    -type f -print | while read -r program; do
    ! is_elf "$program" || env -i LD_LIBRARY_PATH="$1" ldd "$program"
  done >"$work/ldd"
  sed -n 's/^\t\(\S*\) => \(\/\S*\) .*/\1 \2/p' "$work/ldd" | sort -u | while read -r soname file; do
    if ! [[ $soname =~ $from_the_system || $soname =~ $from_the_driver ]]; then echo "$soname $file"; fi
  done
}
loaded "" >"$work/libraries"
if grep 'not found' "$work/ldd" >&2; then
  echo "$0: these shared libraries are missing here; run ./dev setup" >&2
  exit 1
fi
while read -r soname file; do
  install -m 644 "$(realpath "$file")" "$stage/lib/$soname"
  strip --strip-unneeded "$stage/lib/$soname"
done <"$work/libraries"

# Data that programs look for in ../share/warpsmith, by the build's own install rules.
cmake --install "$build" --prefix "$stage" >/dev/null
[ -n "$services" ] ||
  rm -rf "$stage/share/warpsmith/coordinator" "$stage/share/warpsmith/migrations" "$stage/share/warpsmith/llm_gateway"
for folder in gpu_worker/reference/python gpu_worker/device/emulated/include; do
  if [ ! -d "$stage/share/warpsmith/$folder" ]; then
    echo "$0: the data folder $folder was not installed; has its CMakeLists.txt an install rule?" >&2
    exit 1
  fi
done

# A library that would still be taken from this machine would be missing on another. PostgreSQL's programs get theirs by
# their wrappers, ours by themselves.
loaded "${services:+$stage/lib}" >"$work/libraries"
while read -r soname file; do
  case $(realpath "$file") in
    "$stage"/*) ;;
    *)
      echo "$0: $soname would be loaded from $file, not from the bundle" >&2
      exit 1
      ;;
  esac
done <"$work/libraries"
rmdir --ignore-fail-on-non-empty "$stage/gpu_tests"

cat >"$stage/README" <<TEXT
warpsmith $version: compiles, validates and times CUDA kernels on the GPUs of this machine.

Needs x86-64 Linux with glibc 2.36 or later (Debian 12, Ubuntu 24.04) and Landlock (5.13 or later), the NVIDIA driver, a
CUDA toolkit (/usr/local/cuda, or NVIDIA's Python wheels, or the folder named in WARPSMITH_CUDA_PATH), and a python3 that
imports torch (or the one named in WARPSMITH_PYTHON). Unpack it anywhere; nothing is installed.

  bin/warpsmith doctor                          what this machine has and lacks
  bin/warpsmith evaluate problem.py kernel.cu   one candidate, here, without any service
  bin/warpsmith-worker --help                   be a worker of a coordinator elsewhere
${services:+  bin/warpsmith run problem.py                  a whole search, here
}
lib/ holds the shared libraries of bin/, found there without any setting; share/ holds data of the programs.
TEXT

archive=$output/$name.tar.xz
# One block and one time for all files: the same tree makes the same archive.
tar --sort=name --owner=0 --group=0 --numeric-owner --mtime=2000-01-01 -C "$work" -c "$name" | xz -T0 -6 >"$archive.tmp"
mv "$archive.tmp" "$archive"
size=$(stat -c %s "$archive")
echo "$archive ($((size >> 10)) KiB)"
limit=$((40 << 20))
if [ "$size" -gt "$limit" ]; then
  echo "$0: the archive is larger than 40 MiB" >&2
  exit 1
fi
