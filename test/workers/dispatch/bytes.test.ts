// The signed bytes are the sent bytes, the same in every attempt, as a receiver sees them.
import { randomBytes, randomUUID } from 'node:crypto'
import { Webhook } from 'standardwebhooks'
import t, { type Test } from 'tap'
import { isSigned } from '../../../docs/webhooks/is-signed.js'
import type { JsonObject } from '../../../src/domain/json.js'
import { noStream, EventLog } from '../../../src/log/event-log.js'
import { currentSecret } from '../../../workers/deliver/secrets.js'
import { seal } from '../../../src/privacy/sealed-text.js'
import { newSecret } from '../../../workers/deliver/sign.js'
import { startWorkers } from '../../../workers/start.js'
import { assistantCreated, callCompleted, proposed, webhookTo } from '../../support/events/call-events.js'
import { eventually } from '../../support/eventually.js'
import { keepingLog, scratchLedger } from '../../support/postgres/ledger.js'
import { answers, receiver, stringsOf, type Received, type Receiver } from '../../support/receivers/receiver.js'
import { scratchEventStore } from '../../support/back-ends/scratch-event-store.js'
import { keptGuard } from '../../support/workers/worker-site.js'
import { webhookProblems } from '../../support/documents/webhook-schemas.js'

const { postgres, connection } = await scratchEventStore(t)
const streams = new EventLog(connection)
const { pool, notifications, databaseUrl } = await scratchLedger(t, postgres)
const keys = { current: randomBytes(32), previous: [] }

/** A worker as after a start of the process: its state is in the ledger alone. */
function worker () {
  const log = keepingLog()
  const started = startWorkers({
    pool,
    notifications,
    databaseUrl,
    streams,
    logGuard: keptGuard(t, { pool, streams, log }),
    holder: randomUUID(),
    log,
    webhook: {
      schedule: [0, 50, 500, 50, 500, 50, 500, 50, 500], timeoutMs: 2_000, allowHttp: true, allowCidrs: ['127.0.0.0/8']
    },
    keys,
    version: '1.2.3',
    reconcileEveryMs: 200
  })
  t.teardown(() => started.stop())
  return started
}

/** Odd values that JSON can hold and that are easily changed, as text, as an engine sends them. */
const odd: JsonObject = JSON.parse(`{
  "accents": "Grüezi, señor Łukasz", "combining": "e\u0301 \u1100\u1161", "emoji": "👋🏽 👨‍👩‍👧 🇳🇱",
  "scripts": "你好 שלום नमस्ते",
  "separators": "\u2028 \u2029 \ufeff \u200d", "controls": "\\u0000 \\u001f \\u007f \\b\\f\\n\\r\\t",
  "lone": "\\ud800 \\udfff", "marks": "\\" \\\\ / </script>",
  "large": [9007199254740991, -9007199254740991, 18446744073709551615, 1.7976931348623157e308, 1e21],
  "small": [5e-324, 1e-7, 0.1, -0.0],
  "keys": { "b": 1, "10": 2, "9": 3, "": 4, "é 👋": 5, "__proto__": { "a": null } }, "text": "12345678901234567890123"
}`)

t.test('every attempt brings the stored bytes, signed as they are, also after a restart and a rotation', async (t) => {
  const hook = await receiver(t, answers(500))
  await worksUntil(() => hook.received.length >= 2, () => report(hook))
  await worksUntil(() => hook.received.length >= 4)
  const before = hook.received.length
  const secrets = [await currentSecret(pool, keys, '1'), newSecret()] as const
  await rotate(secrets[1])
  hook.answer = answers(200)
  await worksUntil(async () => (await pool.query(`
    SELECT FROM ledger.webhook_deliveries WHERE status = 'delivered'`)).rowCount === 1)

  const { rows: [stored] } =
    await pool.query<{ id: string, body: string }>('SELECT id, body FROM ledger.webhook_deliveries')
  if (!stored) throw new Error('unreachable')
  for (const [index, received] of hook.received.entries()) {
    isStored(t, received, stored, index + 1)
    isSignedBy(t, received, secrets[0], 'by the first secret')
    if (index >= before) isSignedBy(t, received, secrets[1], 'by the second secret')
    else t.notOk(isSigned(secrets[1], received.headers, received.body, received.at / 1000), 'not yet by the second')
  }
  t.ok(before >= 4 && hook.received.length > before, `${hook.received.length} attempts, ${before} before the rotation`)
  t.same(webhookProblems(stored.body), [])
  const { data } = JSON.parse(stored.body)
  t.equal(JSON.stringify(data.input_variables), JSON.stringify(odd), 'nothing is lost, and no key has moved')
  t.match(stored.body, '"lone":"\\ud800 \\udfff"', 'what UTF-8 cannot hold is escaped')
})

/** Runs a worker until the condition holds. */
async function worksUntil (condition: () => boolean | Promise<boolean>, begin = async () => {}): Promise<void> {
  const running = worker()
  await running.ready
  await begin()
  await eventually(condition)
  await running.stop()
}

async function report (hook: Receiver): Promise<void> {
  const text = String(odd.lone) + String(odd.controls) + String(odd.separators)
  const call = {
    input_variables: odd,
    extracted_variables: { summary: odd.emoji ?? null },
    transcript: [{ role: 'customer' as const, text, at: 0.1 }]
  }
  const assistant = assistantCreated(1, { assistant_name: 'Réception ☎️', ...webhookTo(hook.url) })
  for (const told of [assistant, callCompleted('c-1', call)]) {
    await streams.append(told.stream, [proposed(told)], noStream)
  }
}

async function rotate (secret: string): Promise<void> {
  const { key_id, sealed } = seal(keys, '1', secret)
  await pool.query("UPDATE ledger.webhook_secrets SET expires_at = now() + interval '1 day' WHERE user_id = '1'")
  await pool.query(`
    INSERT INTO ledger.webhook_secrets (user_id, key_id, sealed)
    VALUES ('1', $1, decode($2, 'base64'))`, [key_id, sealed])
}

function isStored (t: Test, { headers, body }: Received, stored: { id: string, body: string }, attempt: number): void {
  t.ok(body.equals(Buffer.from(stored.body)), `attempt ${attempt} brings the stored bytes`)
  t.match(headers, { 'webhook-id': stored.id, 'webhook-attempt': String(attempt) })
  t.match(headers, { 'content-length': String(body.length), 'content-type': 'application/json' })
  t.notOk('transfer-encoding' in headers || 'content-encoding' in headers)
}

function isSignedBy (t: Test, { headers, body, at }: Received, secret: string, name: string): void {
  t.ok(isSigned(secret, headers, body, at / 1000), name)
  t.doesNotThrow(() => new Webhook(secret).verify(body, stringsOf(headers)))
}
