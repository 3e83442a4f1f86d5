#!/usr/bin/env bash
# install.sh BUILD_FOLDER PREFIX: the built programs and the data that they look for, as PREFIX/bin and
# PREFIX/share/warpsmith. Shared libraries stay the system's; deploy/bundle.sh carries them too.
set -euo pipefail
if [ $# -ne 2 ]; then
  echo "usage: $0 BUILD_FOLDER PREFIX, such as: $0 build/dev /opt/warpsmith" >&2
  exit 2
fi
build=$(realpath "$1")
programs=(warpsmith warpsmith-canary warpsmith-compiler warpsmith-coordinator warpsmith-executor warpsmith-gateway
  warpsmith-host-code warpsmith-profiler warpsmith-worker)
for program in "${programs[@]}"; do
  if [ ! -x "$build/bin/$program" ]; then
    echo "$0: $build/bin/$program is not built; run ./dev build" >&2
    exit 1
  fi
done
mkdir -p "$2/bin"
prefix=$(realpath "$2")
for program in "${programs[@]}"; do
  # Beside the old one first: a program that runs cannot be written over.
  install -m 755 "$build/bin/$program" "$prefix/bin/.$program.new"
  strip --strip-unneeded "$prefix/bin/.$program.new"
  mv "$prefix/bin/.$program.new" "$prefix/bin/$program"
done
cmake --install "$build" --prefix "$prefix" >/dev/null
for folder in migrations coordinator llm_gateway gpu_worker; do
  if [ ! -d "$prefix/share/warpsmith/$folder" ]; then
    echo "$0: the data folder $folder was not installed; has its CMakeLists.txt an install rule?" >&2
    exit 1
  fi
done
echo "$prefix"
