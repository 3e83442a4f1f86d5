#!/bin/bash
# health PORT PATH: exit status 0 where http://127.0.0.1:PORT/PATH answers 200. What a container's health check runs; its
# own time limit ends it where nothing is answered.
set -euo pipefail
if [ $# -ne 2 ] || ! [[ $1 =~ ^[0-9]+$ && $2 == /* ]]; then
  echo "usage: $0 PORT PATH, such as: $0 9464 /healthz" >&2
  exit 2
fi
exec 3<>"/dev/tcp/127.0.0.1/$1"
printf 'GET %s HTTP/1.0\r\nHost: localhost\r\n\r\n' "$2" >&3
read -r _ status _ <&3
[ "$status" = 200 ]
