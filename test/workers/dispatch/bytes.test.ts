// What is signed is what is sent, byte for byte and the same every time: looked at where it arrives.
import { randomBytes, randomUUID } from 'node:crypto'
import { Webhook } from 'standardwebhooks'
import t from 'tap'
import { isSigned } from '../../../docs/webhooks/is-signed.js'
import type { JsonObject } from '../../../src/domain/json.js'
import { openRestoreGuard } from '../../../src/recovery/restore-guard.js'
import { noStream, openStreams } from '../../../src/event-store/streams.js'
import { currentSecret, seal } from '../../../workers/deliver/secrets.js'
import { newSecret } from '../../../workers/deliver/sign.js'
import { startWorkers } from '../../../workers/start.js'
import { assistantCreated, callCompleted, proposed } from '../../support/call-events.js'
import { eventually } from '../../support/eventually.js'
import { keepingLog, scratchLedger } from '../../support/ledger.js'
import { answers, receiver, type Received } from '../../support/receiver.js'
import { scratchEventStore } from '../../support/scratch-event-store.js'
import { webhookProblems } from '../../support/webhook-schemas.js'

const { postgres, client } = await scratchEventStore(t)
const streams = openStreams(client)
const { pool, databaseUrl } = await scratchLedger(t, postgres)
const secretKey = randomBytes(32)
const keys = { current: secretKey, previous: [] }

/** A worker as after a start of the process: all it knows is in the ledger. */
function worker () {
  const log = keepingLog()
  const started = startWorkers({
    pool,
    databaseUrl,
    streams,
    restoreGuard: openRestoreGuard({ pool, streams, log }),
    holder: randomUUID(),
    log,
    webhook: { schedule: [0, 50, 500, 50, 500, 50, 500, 50, 500], timeoutMs: 2_000, allowHttp: true, allowCidrs: ['127.0.0.0/8'] },
    secretKey,
    previousSecretKeys: [],
    version: '1.2.3',
    reconcileEveryMs: 200
  })
  t.teardown(() => started.stop())
  return started
}

/** Whatever JSON can hold and a careless hand would change; by way of text, as an engine sends it. */
const odd: JsonObject = JSON.parse(`{
  "accents": "Grüezi, señor Łukasz", "combining": "e\u0301 \u1100\u1161", "emoji": "👋🏽 👨‍👩‍👧 🇳🇱", "scripts": "你好 שלום नमस्ते",
  "separators": "\u2028 \u2029 \ufeff \u200d", "controls": "\\u0000 \\u001f \\u007f \\b\\f\\n\\r\\t", "lone": "\\ud800 \\udfff", "marks": "\\" \\\\ / </script>",
  "large": [9007199254740991, -9007199254740991, 18446744073709551615, 1.7976931348623157e308, 1e21], "small": [5e-324, 1e-7, 0.1, -0.0],
  "keys": { "b": 1, "10": 2, "9": 3, "": 4, "é 👋": 5, "__proto__": { "a": null } }, "text": "12345678901234567890123"
}`)

const stringsOf = ({ headers }: Received) => Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))

t.test('every attempt brings the stored bytes, signed as they are, also after a restart and a rotation', async (t) => {
  const hook = await receiver(t, answers(500))
  const attempt = (n: number) => eventually(() => {
    const arrived = hook.received[n - 1]
    if (!arrived) throw new Error(`${hook.received.length} attempts arrived, not ${n}`)
    return arrived
  })
  const first = worker()
  await first.ready
  for (const told of [
    assistantCreated(1, { assistant_name: 'Réception ☎️', is_webhook_active: true, webhook_url: hook.url }),
    callCompleted('c-1', { input_variables: odd, extracted_variables: { summary: odd.emoji ?? null }, transcript: [{ role: 'customer', text: String(odd.lone) + String(odd.controls) + String(odd.separators), at: 0.1 }] })
  ]) await streams.append(told.stream, [proposed(told)], noStream)
  await attempt(2)
  await first.stop()
  const second = worker()
  await second.ready
  await attempt(4)
  await second.stop()
  const before = hook.received.length

  const secrets = [await currentSecret(pool, keys, '1'), newSecret()] as const
  const { key_id, sealed } = seal(keys, '1', secrets[1])
  await pool.query("UPDATE ledger.webhook_secrets SET expires_at = now() + interval '1 day' WHERE user_id = '1'")
  await pool.query("INSERT INTO ledger.webhook_secrets (user_id, key_id, sealed) VALUES ('1', $1, decode($2, 'base64'))", [key_id, sealed])
  hook.answer = answers(200)
  const third = worker()
  await third.ready
  await eventually(async () => (await pool.query("SELECT FROM ledger.webhook_deliveries WHERE status = 'delivered'")).rowCount === 1)
  await third.stop()

  const { rows: [stored] } = await pool.query<{ id: string, body: string }>('SELECT id, body FROM ledger.webhook_deliveries')
  if (!stored) throw new Error('unreachable')
  for (const [index, received] of hook.received.entries()) {
    const { headers, body, at } = received
    t.ok(body.equals(Buffer.from(stored.body)), `attempt ${index + 1} brings the stored bytes`)
    t.match(headers, { 'webhook-id': stored.id, 'webhook-attempt': String(index + 1), 'content-length': String(body.length), 'content-type': 'application/json' })
    t.notOk('transfer-encoding' in headers || 'content-encoding' in headers)
    for (const [number, secret] of secrets.entries()) {
      const isTold = number === 0 || index >= before
      t.equal(isSigned(secret, headers, body, at / 1000), isTold, `by ${number === 0 ? 'the first' : 'the second'} secret${isTold ? '' : ' not yet'}`)
      if (isTold) t.doesNotThrow(() => new Webhook(secret).verify(body, stringsOf(received)))
    }
  }
  t.ok(before >= 4 && hook.received.length > before, `${hook.received.length} attempts, ${before} before the rotation`)
  t.same(webhookProblems(stored.body), [])
  const { data } = JSON.parse(stored.body)
  t.equal(JSON.stringify(data.input_variables), JSON.stringify(odd), 'nothing is lost, and no key has moved')
  t.match(stored.body, '"lone":"\\ud800 \\udfff"', 'what UTF-8 cannot hold is escaped')
})
