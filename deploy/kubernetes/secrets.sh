#!/usr/bin/env bash
# kubernetes/secrets.sh FOLDER [--keys FOLDER] [--print]: what deploy/secrets.sh made, as the Secrets that the manifests
# name; a second call brings them up to date. --keys: a folder with the models' keys, one a file, for the gateway alone.
# --print writes them to standard output and changes no cluster.
set -euo pipefail

usage() {
  echo "usage: $0 FOLDER [--keys FOLDER] [--print]" >&2
  exit 2
}

if [ $# -lt 1 ] || [[ $1 == -* ]]; then usage; fi
folder=$1
shift
keys=
print=
while [ $# -gt 0 ]; do
  case $1 in
    --keys) keys=${2:?a folder is missing} && shift ;;
    --print) print=1 ;;
    *) usage ;;
  esac
  shift
done

secret() {  # secret NAME ENTRY=FILE...
  local name=$1 entry arguments=()
  shift
  for entry in "$@"; do arguments+=("--from-file=$entry"); done
  # Values pass through files and a pipe, never a command line.
  kubectl create secret generic "$name" --namespace warpsmith "${arguments[@]}" --dry-run=client -o yaml
  echo "---"
}

all() {
  secret coordinator ca.crt="$folder/ca.pem" tls.crt="$folder/coordinator.pem" tls.key="$folder/coordinator.key" \
    tokens="$folder/coordinator.tokens" token="$folder/coordinator.token"
  secret gateway ca.crt="$folder/ca.pem" tls.crt="$folder/gateway.pem" tls.key="$folder/gateway.key" \
    tokens="$folder/gateway.tokens" token="$folder/gateway.token"
  secret worker ca.crt="$folder/ca.pem" token="$folder/worker.token"
  secret database password="$folder/database.password"
  secret database-reader password="$folder/reader.password"
  if [ -n "$keys" ]; then secret model-keys "$keys"; fi
}

if [ -n "$print" ]; then all; else all | kubectl apply --server-side --force-conflicts -f -; fi
