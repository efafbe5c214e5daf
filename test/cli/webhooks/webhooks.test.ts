// `ringledger webhooks` as an operator runs it, on a ledger that another process filled.
import t from 'tap'
import { randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { noStream, EventLog } from '../../../src/log/event-log.js'
import { sinceTime } from '../../../src/cli/webhooks.js'
import { deliveryId } from '../../../workers/dispatch/payload.js'
import { dispatcher } from '../../../workers/dispatch/dispatch.js'
import { assistantCreated, callCompleted, proposed } from '../../support/events/call-events.js'
import { keepingLog, scratchLedger } from '../../support/postgres/ledger.js'
import { dataDir, runWarm } from '../../support/ringledger.js'
import { scratchEventStore } from '../../support/back-ends/scratch-event-store.js'
import { secrets } from '../../support/auth/secrets.js'

const { connection, store } = await scratchEventStore(t)
const streams = new EventLog(connection)
const { pool, databaseUrl } = await scratchLedger(t)
const env = { ...secrets, DATA_DIR: dataDir(t), DATABASE_URL: databaseUrl, EVENTSTORE_URL: store.url }
const webhooks = (...args: string[]) => runWarm(['webhooks', ...args], env)

const assistant = assistantCreated(1, { is_webhook_active: true, webhook_url: 'https://hooks.example.com' })
const { data, ...unfit } = callCompleted('unfit')
const calls = [
  callCompleted('c-1'), callCompleted('c-2'), callCompleted('c-3', { assistant_id: 9 }),
  { ...unfit, data: { ...data, duration: 'long' } }
]
for (const told of [assistant, ...calls]) await streams.append(told.stream, [proposed(told)], noStream)
const head = await streams.head()
let position = 0n
const consumer = await dispatcher({ pool, firstDelayMs: 3_600_000, wake () {}, log: keepingLog() }).open()
for await (const batch of streams.follow({
  after: 0n, eventTypes: ['AssistantCreated', 'CallCompleted'], signal: new AbortController().signal
})) {
  await consumer.write(batch, position, 0n)
  position = batch.position
  if (batch.position >= head) break
}

/** What stands in the rows of the tables that were printed. */
const cells = (stdout: string) => stdout.split('\n').filter((line) => line.startsWith('│'))
  .map((line) => line.split('│').slice(1, -1).map((cell) => cell.trim()))

t.test('calls that nobody can be told of are listed by their reason, and shown with what is wrong', async (t) => {
  const { stdout } = await webhooks('list', '--reason', 'invalid', '--json')
  t.match(JSON.parse(stdout), [{ call_id: 'unfit', status: 'skipped' }])
  t.match(await webhooks('show', deliveryId('unfit')), { code: 0, stdout: /problem .*duration/ })
  t.notMatch(await webhooks('show', deliveryId('c-3')), { stdout: /problem/ })
})

t.test('redeliver asks for what it can, and fails when that is not everything', async (t) => {
  const { code, stderr, stdout } = await webhooks('redeliver', deliveryId('c-1'), deliveryId('c-3'), randomUUID())
  t.strictSame({ code, stdout }, { code: 1, stdout: '' })
  t.match(stderr, /is sent again[\s\S]*never to be sent: unknown_assistant[\s\S]*no such delivery/)
  t.match((await pool.query("SELECT delivery_id, trigger, started_at FROM ledger.webhook_due WHERE trigger <> 'schedule'")).rows, [{
    delivery_id: deliveryId('c-1'), trigger: 'manual', started_at: null
  }])
})

t.test('show tells everything of one delivery, with each attempt, and fails where there is none', async (t) => {
  const started = new Date(Date.now() - 60_000).toISOString()
  await pool.query(`
    INSERT INTO ledger.webhook_attempts (delivery_id, trigger, n, started_at, finished_at, outcome, status_code, duration_ms, error)
    VALUES ($1, 'schedule', 1, $2, now(), 'rejected', 503, 1000, 'busy')`, [deliveryId('c-1'), started])
  const { code, stdout } = await webhooks('show', deliveryId('c-1'))
  t.equal(code, 0)
  t.same(cells(stdout).slice(-2), [
    ['schedule', '1', started, '1000', 'rejected', '503', 'busy'],
    ['manual', '1', 'waits', '', '', '', '']
  ])
  t.match(await webhooks('show', randomUUID()), { code: 1, stdout: '', stderr: /there is no delivery/ })
})

t.test('recover schedules for now what was not delivered, and says how much', async (t) => {
  t.match(await webhooks('recover', '--since', '1h', '--user', '1'), { code: 0, stderr: /Scheduled 2 deliveries for now/ })
  const { stdout } = await webhooks('recover', '--since', '1h', '--user', 'nobody', '--json')
  t.strictSame(JSON.parse(stdout), { scheduled: 0, held: 0, off: 0 })
  const due = "SELECT FROM ledger.webhook_due WHERE trigger = 'schedule' AND due_at <= now()"
  t.equal((await pool.query(due)).rowCount, 2)
})

t.test('--since is a day, an instant or how long ago', async (t) => {
  const now = Date.parse('2026-01-31T12:00:00Z')
  for (const [text, instant] of [
    ['90m', '2026-01-31T10:30:00Z'], ['12h', '2026-01-31T00:00:00Z'], ['3d', '2026-01-28T12:00:00Z'],
    ['2026-01-30', '2026-01-30T00:00:00Z'], ['2026-01-30T08:00:00+01:00', '2026-01-30T07:00:00Z']
  ] as const) {
    t.equal(sinceTime(text, now).getTime(), Date.parse(instant), text)
  }
  for (const text of ['0h', '1w', '2026-02-30', '100000d']) t.throws(() => sinceTime(text), text)
})

t.test('list prints a line for each delivery, the reason of held ones, and how many there are', async (t) => {
  await pool.query("UPDATE ledger.webhooks SET suspended_at = now(), suspended_reason = 'gone'")
  const { code, stdout } = await webhooks('list', '--status', 'held', '--limit', '1')
  t.equal(code, 0)
  const [, row, ...more] = cells(stdout)
  t.match(row?.join(), /c-2,.*,held,endpoint_suspended,0,/)
  t.same(more, [])
  t.match(stdout, /^1 of 2$/m)
})

t.test('failing names those that fail or are suspended', async (t) => {
  const { code, stdout } = await webhooks('failing')
  t.match({ code, stdout }, { code: 0, stdout: /1 .*hooks\.example\.com.* suspended .* the receiver answered 410/ })
  t.match(JSON.parse((await webhooks('failing', '--json')).stdout), [{ assistant_id: 1, state: 'suspended', waiting: 2 }])
})

t.test('options are changed by a file, shown without values, and cleared', async (t) => {
  const file = join(env.DATA_DIR, 'headers.json')
  writeFileSync(file, '{"X-Api-Key": "0123456789"}')
  const shown = { headers: { 'X-Api-Key': '…6789' }, max_per_second: 7 }
  const changed = await webhooks('options', '1', '--headers', file, '--max-per-second', '7', '--json')
  t.same(JSON.parse(changed.stdout), shown)
  t.same(JSON.parse((await webhooks('options', '1', '--json')).stdout), shown)
  writeFileSync(file, '{"Host": "a-secret"}')
  const refused = await webhooks('options', '1', '--headers', file, '--max-per-second', '101')
  t.match(refused, { code: 1, stderr: /max_per_second must be between 1 and 100[^]*headers\.Host must have another name/ })
  t.notMatch(refused.stderr, /a-secret/)
  t.same(JSON.parse((await webhooks('options', '1', '--clear', '--json')).stdout), { headers: {}, max_per_second: null })
})

t.test('stats exit with 0 while every call is accounted for, and with 1 when one is not', async (t) => {
  const sound = await webhooks('stats', '--json')
  t.equal(sound.code, 0)
  t.match(JSON.parse(sound.stdout), {
    statuses: { held: 2, scheduled: 0, skipped: 2, delivered: 0 },
    due: { waiting: 1, under_way: 0, oldest: /Z$/ },
    suspended_endpoints: 1,
    failing_endpoints: 0,
    calls: 4,
    rows: 4,
    unaccounted: 0
  })
  await pool.query("DELETE FROM ledger.webhook_deliveries WHERE call_id = 'c-3'")
  const { code, stdout, stderr } = await webhooks('stats')
  t.equal(code, 1)
  t.match(stdout, /unaccounted +│ 1 /)
  t.match(stderr, /1 calls are unaccounted for/)
})
