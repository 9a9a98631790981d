#!/bin/sh
# Makes the secrets that compose.yaml reads, those that are not there yet: make_secrets.sh [FOLDER]
# The folder is for its owner only; the files are readable, because the users in the containers are others.
set -eu
folder=${1:-$(dirname "$0")/secrets}
mkdir -p "$folder"
chmod 0700 "$folder"
cd "$folder"

put() { # file, content: never writes over one that is there
  [ -s "$1" ] || printf '%s' "$2" > "$1"
  chmod 0444 "$1"
}
random() { od -An -N24 -tx1 /dev/urandom | tr -d ' \n'; }

put app_secret "$(random)$(random)"
put postgres_password "$(random)"
put clickhouse_password "$(random)"
put redis_password "$(random)"
put first_owner_password "$(random)"
put database_url "postgres://tocsin:$(cat postgres_password)@postgres:5432/tocsin"
put clickhouse_url "http://tocsin:$(cat clickhouse_password)@clickhouse:8123/tocsin"
put redis_url "redis://:$(cat redis_password)@redis:6379"
echo "The secrets are in $(pwd). The password of the first owner is in first_owner_password."
