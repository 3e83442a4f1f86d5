#!/bin/sh
# Makes the role `grafana`, which reads the documented views and nothing else, with the password of the secret
# reader.password; a second call sets the password anew. Passwords pass through standard input, never a command line.
set -eu
secrets=${SECRETS:-/run/secrets}
PGPASSWORD=$(cat "$secrets/database.password")
export PGPASSWORD
# Only letters and digits, so that nothing in it can end the string below.
password=$(tr -dc 'A-Za-z0-9' <"$secrets/reader.password")
if [ -z "$password" ]; then
  echo "$0: $secrets/reader.password must hold letters and digits; make it with deploy/secrets.sh" >&2
  exit 1
fi
psql -X -q -v ON_ERROR_STOP=1 <<SQL
SELECT create_reader('grafana') WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'grafana');
ALTER ROLE grafana PASSWORD '$password';
SQL
