#!/bin/sh
# Makes the role that owns Praxis's tables, which is no superuser, and its database. Run once by the image of PostgreSQL, when it
# makes an empty cluster.
set -eu
password="$(cat "${DATABASE_PASSWORD_FILE:-/run/secrets/database-password}")"
psql --no-psqlrc --set=ON_ERROR_STOP=1 --set=password="$password" --username="${POSTGRES_USER:-postgres}" --dbname=postgres <<'SQL'
CREATE ROLE praxis_owner LOGIN CREATEROLE PASSWORD :'password';
CREATE DATABASE praxis OWNER praxis_owner;
SQL
