#!/usr/bin/env bash
# secrets.sh FOLDER [--coordinator NAMES] [--gateway NAMES] [--renew]: everything secret that an installation needs, as
# files in FOLDER: an authority, the servers' certificates, tokens, passwords. A file that is there stays as it is, so
# that a second call only adds what is missing; --renew makes new server certificates (valid for a year) by the same
# authority. NAMES are the servers' names and addresses as clients write them, as openssl's subjectAltName has them.
#
#   deploy/secrets.sh secrets --coordinator DNS:coordinator.lab,IP:10.0.0.5 --gateway DNS:gateway.lab
#
# | file | for whom |
# | ca.pem | everybody;   ca.key: nobody but this script; keep it off the servers |
# | coordinator.pem .key .tokens, gateway.pem .key .tokens | the server of that name; .tokens holds hashes only |
# | coordinator.token, gateway.token | the two servers, to call each other |
# | worker.token | all workers: their ids are worker-0, worker-1 ... |
# | operator.token, viewer.token | people, for WARPSMITH_TOKEN_FILE; make one a person with `warpsmith token new` |
# | database.password, reader.password, grafana.password | the coordinator's and the dashboards' role, Grafana's admin |
set -euo pipefail
umask 077

usage() {
  echo "usage: $0 FOLDER [--coordinator NAMES] [--gateway NAMES] [--renew]" >&2
  exit 2
}

if [ $# -lt 1 ] || [[ $1 == -* ]]; then usage; fi
mkdir -p "$1"
folder=$(realpath "$1")
shift
coordinator=DNS:coordinator,DNS:localhost,IP:127.0.0.1
gateway=DNS:gateway,DNS:localhost,IP:127.0.0.1
renew=
while [ $# -gt 0 ]; do
  case $1 in
    --coordinator) coordinator=${2:?names are missing} && shift ;;
    --gateway) gateway=${2:?names are missing} && shift ;;
    --renew) renew=1 ;;
    *) usage ;;
  esac
  shift
done
for names in "$coordinator" "$gateway"; do
  if ! [[ $names =~ ^(DNS|IP):[A-Za-z0-9.:*-]+(,(DNS|IP):[A-Za-z0-9.:*-]+)*$ ]]; then
    echo "$0: '$names' must be names such as DNS:coordinator.lab,IP:10.0.0.5" >&2
    exit 2
  fi
done
cd "$folder"
work=$(mktemp -d "$folder/.work.XXXXXX")
trap 'rm -rf "$work"' EXIT

new_key() { openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$1" 2>/dev/null; }

if [ ! -e ca.pem ]; then
  new_key ca.key
  openssl req -x509 -new -key ca.key -days 3650 -subj "/CN=warpsmith authority" -out ca.pem
  chmod 644 ca.pem
fi

certificate() {  # certificate NAME SUBJECTALTNAMES
  [ -e "$1.pem" ] && [ -z "$renew" ] && return
  new_key "$work/$1.key"
  openssl req -new -key "$work/$1.key" -subj "/CN=$1" -out "$work/$1.csr"
  printf 'subjectAltName=%s\nextendedKeyUsage=serverAuth,clientAuth\n' "$2" >"$work/$1.ext"
  openssl x509 -req -in "$work/$1.csr" -CA ca.pem -CAkey ca.key -set_serial "0x$(openssl rand -hex 16)" -days 365 \
    -extfile "$work/$1.ext" -out "$work/$1.pem" 2>/dev/null
  chmod 644 "$work/$1.pem"
  # The key first: servers look again once both have changed.
  mv "$work/$1.key" "$work/$1.pem" .
}

token() {  # token ROLE NAME SERVER: the line is what `warpsmith token new` writes
  [ -e "$2.token" ] && return
  local text
  text=warpsmith_$(openssl rand -hex 32)
  printf '%s\n' "$text" >"$work/token"
  printf '%s %s %s\n' "$1" "$(printf %s "$text" | sha256sum | cut -d ' ' -f 1)" "$2" >>"$3.tokens"
  mv "$work/token" "$2.token"
}

password() {  # password FILE: no new line at its end, which some readers would take for a part of it
  [ -e "$1" ] || openssl rand -hex 24 | tr -d '\n' >"$1"
}

certificate coordinator "$coordinator"
certificate gateway "$gateway"
token operator operator coordinator
token viewer viewer coordinator
token worker worker coordinator
token gateway gateway coordinator
token gateway coordinator gateway
for name in database reader grafana; do password "$name.password"; done
echo "$folder"
