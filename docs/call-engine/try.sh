#!/bin/sh
# Runs the samples of other languages that are here against a store: each reports a call of its own, twice.
# usage: EVENTSTORE_URL=esdb://127.0.0.1:2113?tls=false sh docs/call-engine/try.sh ASSISTANT_ID
set -eu
: "${EVENTSTORE_URL:?is where the store listens; \`ringledger start\` prints it}"
assistant=${1:?the id of an assistant}
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The report of a call that ended just now, as $work/report.json.
report() {
  call_id="try-$1-$(date +%s)"
  cat > "$work/report.json" <<JSON
{"call_id":"$call_id","assistant_id":$assistant,"lead_id":null,"status":"completed","direction":"outbound",
"from":"+1 555 0100","to":"+1 555 0101","started_at":"2026-01-01T10:00:00+00:00","ended_at":"2026-01-01T10:01:00+00:00",
"duration":60,"recording_url":null,"transcript":[],"input_variables":{},"extracted_variables":{},"evaluation":null}
JSON
}

# Runs a command twice: the second time nothing is added, and it says the same.
twice() {
  echo "$call_id"
  "$@"
  "$@"
}

if python3 -c 'import esdbclient' 2>/dev/null; then
  report python
  twice python3 "$here/report_call.py" "$work/report.json"
else
  echo 'Python is left out: pip install esdbclient'
fi

if command -v go >/dev/null; then
  report go
  cp "$here/report_call.go" "$work/" && cd "$work"
  go mod init try >/dev/null 2>&1
  go mod tidy >/dev/null 2>&1
  twice go run report_call.go report.json
else
  echo 'Go is left out: it is not here'
fi

if command -v javac >/dev/null && [ -n "${CLASSPATH:-}" ]; then
  report java
  twice java -cp "$CLASSPATH" "$here/ReportCall.java" "$call_id" "$work/report.json"
else
  echo 'Java is left out: CLASSPATH names no com.eventstore:db-client-java and its dependencies'
fi
