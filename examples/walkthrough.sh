#!/usr/bin/env bash
# The main job over HTTP, with curl: an assistant, a campaign, a lead, a completed call, and its webhook at a receiver.
#   WEBHOOK_ALLOW_HTTP=true WEBHOOK_ALLOW_CIDRS=127.0.0.0/8 npm start     # in another terminal
#   bash examples/walkthrough.sh
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
api=${API:-http://127.0.0.1:3000}
port=${RECEIVER_PORT:-4001}
user=$(npx ringledger token --user 1)
engine=$(npx ringledger token --user engine --role engine)

# send TOKEN METHOD PATH [BODY]: a key of its own makes a request safe to repeat.
send() {
  curl -sS --fail-with-body -X "$2" "$api$3" -H "Authorization: Bearer $1" -H "Idempotency-Key: $(node -p 'crypto.randomUUID()')" \
    ${4:+-H 'Content-Type: application/json' -d "$4"}
}
# pick EXPRESSION: what it gives of `answer`, the JSON that comes in.
pick() { node -pe "const answer = JSON.parse(fs.readFileSync(0, 'utf8')); $1"; }
say() { printf '\n--- %s\n' "$*"; }

say 'A receiver that verifies what arrives'
WEBHOOK_SECRET=$(send "$user" GET /user/webhook-secret | pick answer.data.secret)
export WEBHOOK_SECRET
node dist/examples/receiver.js "$port" &
receiver=$!
trap 'kill "$receiver"' EXIT

say 'An assistant, whose calls are sent there'
answer=$(send "$user" POST /user/assistant '{
  "assistant_name": "Front desk", "voice_id": 1, "language": "English", "llm_model": "gpt-4o",
  "calls_direction": "receive", "engine_type": "pipeline", "timezone": "Europe/Amsterdam",
  "initial_message": "Hello, how can I help?", "system_prompt": "You are a friendly receptionist.",
  "is_webhook_active": true, "webhook_url": "http://127.0.0.1:'"$port"'/hook"
}')
echo "$answer"
assistant=$(pick answer.data.id <<<"$answer")

say 'A campaign, and a lead in it'
answer=$(send "$user" POST /user/campaign '{ "name": "Spring" }')
echo "$answer"
campaign=$(pick answer.data.id <<<"$answer")
answer=$(send "$user" POST /user/lead '{
  "phone_number": "+15551230100", "campaign_id": '"$campaign"', "variables": { "customer_name": "Ada Example" }
}')
echo "$answer"
lead=$(pick answer.data.id <<<"$answer")

say 'A call of theirs has ended: the call engine reports it'
call="walkthrough-$assistant"
report=$(pick "const { call_id, ...report } = answer; JSON.stringify({ ...report, assistant_id: $assistant, lead_id: $lead })" \
  <examples/completed-call.json)
send "$engine" POST "/engine/calls/$call/completed" "$report"
echo

say 'What became of its webhook'
for _ in {1..60}; do
  answer=$(send "$user" GET "/user/webhook-deliveries?call_id=$call")
  [[ $(pick "answer.data[0]?.status" <<<"$answer") == delivered ]] && break
  sleep 0.5
done
echo "$answer"
[[ $(pick "answer.data[0]?.status" <<<"$answer") == delivered ]]
