#!/bin/sh
# Runs once, when the volume of Postgres is empty: the service gets a database of its own, and a role that is no
# superuser. The superuser then has no password: it can be reached on the socket inside the container alone. The image sets
# POSTGRES_PASSWORD from the file of POSTGRES_PASSWORD_FILE, where there is one.
set -eu
psql --set ON_ERROR_STOP=1 --set password="$POSTGRES_PASSWORD" --username "$POSTGRES_USER" <<'SQL'
CREATE ROLE ringledger LOGIN PASSWORD :'password';
CREATE DATABASE ringledger OWNER ringledger;
REVOKE CONNECT, TEMPORARY ON DATABASE ringledger FROM PUBLIC;
ALTER ROLE CURRENT_USER PASSWORD NULL;
SQL
