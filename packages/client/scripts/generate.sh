#!/usr/bin/env bash
# Generates and compiles clients with other generators of TypeScript, and openapi-python-client, from the API document of a
# running service: generate.sh http://127.0.0.1:3000. Ends with what was made, what failed and what was left out.
# docs/clients/try.sh does it for other languages.
set -uo pipefail
url=${1:?the address of a running service, such as http://127.0.0.1:3000}
work=$(mktemp -d)
made=() failed=() missing=()
curl -fsS "$url/docs/json" -o "$work/whole.json" && curl -fsS "$url/docs/json?webhooks=false" -o "$work/paths.json" || exit 1

# try NAME TOOLS COMMANDS: runs the commands in a folder of their own, when every tool is there.
try() {
  local name=$1 tools=$2 commands=$3 tool
  for tool in $tools; do command -v "$tool" >/dev/null || { missing+=("$name ($tool)"); return; }; done
  mkdir -p "$work/$name"
  if (cd "$work/$name" && eval "$commands") >"$work/$name.log" 2>&1; then made+=("$name"); else failed+=("$name: $work/$name.log"); fi
}

try typescript 'npx' 'npx -y openapi-typescript@7.13.0 ../whole.json -o api.ts && npx -y -p typescript@5.9.3 tsc --noEmit --strict api.ts'
try typescript-hey-api 'npx' 'npx -y -p typescript@5.9.3 -p @hey-api/openapi-ts@0.95.0 openapi-ts -i ../whole.json -o out -c @hey-api/client-fetch && npx -y -p typescript@5.9.3 tsc --noEmit --strict --skipLibCheck --target es2022 --module esnext --moduleResolution bundler out/index.ts'
try typescript-api 'npx' 'npx -y swagger-typescript-api@13.13.0 generate -p ../whole.json -o out && npx -y -p typescript@5.9.3 tsc --noEmit --strict --skipLibCheck --target es2022 --module esnext --moduleResolution bundler out/Api.ts'
try python-client 'openapi-python-client' 'openapi-python-client generate --path ../whole.json --output-path out'
try typescript-fetch 'openapi-generator-cli npx' 'openapi-generator-cli generate -i ../paths.json -o . -g typescript-fetch && npx -y -p typescript@5.9.3 tsc --noEmit --strict --target es2022 --moduleResolution bundler --module esnext index.ts'

printf 'made: %s\n' "${made[@]:-none}"
printf 'failed: %s\n' "${failed[@]:-none}"
printf 'left out, for want of a tool: %s\n' "${missing[@]:-none}"
((${#failed[@]} == 0))
