#!/bin/sh
# Makes the secrets of compose.yaml, as files in the directory `secrets` beside it. Those that are there stay as they are.
#
# Containers read the files as users of their own, so everybody may read them; the directory lets in nobody but its owner.
set -eu
cd "$(dirname "$0")"
umask 077
mkdir -p secrets

# 32 random bytes in base64url.
random() { head -c 32 /dev/urandom | base64 | tr '+/' '-_' | tr -d '=\n'; }

make() {
  [ -e "secrets/$1" ] && return
  printf '%s' "$2" >"secrets/$1.new"
  chmod 444 "secrets/$1.new"
  mv "secrets/$1.new" "secrets/$1"
}

make postgres-password "$(random)"
make database-password "$(random)"
make database-url "postgres://praxis_owner:$(cat secrets/database-password)@database/praxis"
make secret-key "$(random)"
echo 'Keep a copy of deploy/compose/secrets/secret-key elsewhere: a backup is useless without it.'
