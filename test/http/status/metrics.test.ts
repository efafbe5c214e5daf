// /metrics: for operators and the scraper, in every role, with few labels.
import { readFile } from 'node:fs/promises'
import t, { type Test } from 'tap'
import { projections } from '../../../projections/index.js'
import { noStream } from '../../../src/log/event-log.js'
import { skippedCalls } from '../../../workers/dispatch/effects.js'
import { continueAudit } from '../../../workers/operate/audit.js'
import { assistantCreated, callCompleted, proposed } from '../../support/events/call-events.js'
import { eventually } from '../../support/eventually.js'
import { valueOf } from '../../support/running-service.js'
import { newAssistant, testService } from '../../support/service.js'

const METRICS_TOKEN = `${'m'.repeat(32)}1`
const service = await testService(t, ['api', 'projector'], { METRICS_TOKEN, BASE_PATH: '/api' })
const worker = await service.start(['worker'])

async function scrape (url: string, token = METRICS_TOKEN): Promise<string> {
  const response = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${token}` } })
  if (response.status !== 200) throw new Error(`status ${response.status}`)
  return await response.text()
}

const refused = async (t: Test, authorization: string, status: number, url: string) => {
  const response = await fetch(`${url}/metrics`, { headers: { ...(authorization && { authorization }) } })
  t.equal(response.status, status)
  t.type((await response.json() as { message: string }).message, 'string')
  return response
}

t.test('the token of the scraper and tokens of operators are let in, nobody else', async (t) => {
  for (const url of [service.url, worker.url]) {
    for (const token of [METRICS_TOKEN, await service.token('op', 'ops')]) t.match(await scrape(url, token), /^ringledger_/m)
    t.equal((await refused(t, '', 401, url)).headers.get('www-authenticate'), 'Bearer')
    await refused(t, `Bearer ${METRICS_TOKEN}x`, 401, url)
    for (const token of [await service.token('1'), await service.token('e', 'engine')]) await refused(t, `Bearer ${token}`, 403, url)
  }
})

t.test('without METRICS_TOKEN only operators are let in', async (t) => {
  const { url } = await service.start(['worker'], { METRICS_TOKEN: '' })
  for (const authorization of [`Bearer ${METRICS_TOKEN}`, 'Bearer ']) await refused(t, authorization, 401, url)
  t.match(await scrape(url, await service.token('op', 'ops')), /^ringledger_/m)
})

t.test('requests are counted by route pattern and status, never by what was asked for', async (t) => {
  const created = await service.call('POST', '/api/user/assistant', newAssistant)
  const { id } = created.body.data
  await service.call('GET', `/api/user/assistant/${id}?secret=query`)
  await service.call('GET', '/api/user/assistant/987654321')
  await service.call('GET', '/nowhere/at/all')
  const text = await scrape(service.url)
  const count = (labels: string) => valueOf(text, `ringledger_http_request_duration_seconds_count{${labels}}`)
  t.equal(count('method="POST",route="/api/user/assistant",status="201"'), 1)
  t.equal(count('method="GET",route="/api/user/assistant/:id",status="200"'), 1)
  t.equal(count('method="GET",route="/api/user/assistant/:id",status="404"'), 1)
  t.equal(count('method="GET",route="none",status="404"'), 1)
  t.notMatch(text, /secret|987654321|nowhere/)
})

t.test('read models report their positions and that their projections run', async (t) => {
  await service.call('POST', '/api/user/assistant', newAssistant)
  const text = await eventually(async () => {
    const found = await scrape(service.url)
    const position = valueOf(found, 'ringledger_projection_position{projection="assistants"}')
    return position === Number(await service.parts.streams.head()) && found
  })
  for (const { name } of projections) {
    t.equal(valueOf(text, `ringledger_projection_alive{projection="${name}"}`), 1, name)
    t.ok((valueOf(text, `ringledger_consumer_commits_total{consumer="projection ${name} g1"}`) ?? 0) > 0)
    t.equal(valueOf(text, `ringledger_lease_held{lease="projection ${name} g1"}`), 1)
  }
  t.equal(valueOf(text, 'ringledger_projection_lag_positions{projection="assistants"}'), 0)
  t.equal(valueOf(text, 'ringledger_projection_lag_seconds{projection="assistants"}'), 0)
  t.ok((valueOf(text, 'ringledger_consumer_events_total{consumer="projection assistants g1"}') ?? 0) >= 2)
})

t.test('parked streams, circuit breakers, pools and the process have their metrics', async (t) => {
  await service.parts.pool.query(`
    INSERT INTO ledger.parked_events (consumer, stream, revision, position, event_type, error)
    SELECT 'read_leads_g1', 'lead-1-' || n, r, 0, 'LeadCreated', 'no'
    FROM generate_series(1, 2) n, generate_series(1, 3) r;
    UPDATE ledger.generations SET breaker_open_since = now(), breaker_position = 1, breaker_streams = 11, breaker_error = 'no'
    WHERE projection = 'calls'`)
  const text = await scrape(service.url)
  t.equal(valueOf(text, 'ringledger_projection_parked_streams{projection="leads",generation="1"}'), 2)
  t.equal(valueOf(text, 'ringledger_projection_circuit_breaker_open{projection="calls",generation="1"}'), 1)
  t.match(text, /^ringledger_postgres_connections\{pool="answers",state="idle"\} \d+$/m)
  t.match(text, /^process_resident_memory_bytes \d+$/m)
  t.notMatch(await scrape(worker.url), /ringledger_projection_position/, 'a worker feeds no read model')
  const authorization = `Bearer ${await service.token('op', 'ops')}`
  const ready = async () => await service.call('GET', '/health/ready', undefined, { headers: { authorization } })
  const broken = await eventually(async () => {
    const found = await ready()
    return found.status === 503 && found
  })
  t.match(broken.body, { checks: { 'projection calls': 'failing', 'projection leads': 'ok' } }, 'probes notice it too')
  await service.parts.pool.query('UPDATE ledger.generations SET breaker_open_since = NULL; DELETE FROM ledger.parked_events')
  await eventually(async () => (await ready()).status === 200)
})

t.test('a worker reports the outcomes of recent attempts, calls that it skipped, and that none is missed', async (t) => {
  const { pool, streams } = service.parts
  const before = { ...skippedCalls }
  const { data, ...unfit } = callCompleted('unfit')
  for (const told of [
    { ...unfit, data: { ...data, duration: 'long' } }, callCompleted('nobodys', { assistant_id: 7_777 }),
    assistantCreated(900), callCompleted('m-1', { assistant_id: 900 })
  ]) await streams.append(told.stream, [proposed(told)], noStream)
  await eventually(async () =>
    (await pool.query("SELECT FROM ledger.webhook_deliveries WHERE call_id = 'm-1'")).rowCount === 1)
  await pool.query(`
    WITH delivery AS (SELECT id FROM ledger.webhook_deliveries WHERE call_id = 'm-1'), alive AS (
      INSERT INTO ledger.webhook_workers (holder, beat_at) VALUES ('another', now() + interval '1 hour') RETURNING id
    ), running AS (
      INSERT INTO ledger.webhook_due (delivery_id, trigger, assistant_id, user_id, due_at, worker, started_at)
      SELECT delivery.id, 'manual', 900, '1', now(), alive.id, now() - interval '4 minutes' FROM delivery, alive)
    INSERT INTO ledger.webhook_attempts (delivery_id, trigger, n, started_at, finished_at, outcome)
    SELECT delivery.id, 'manual', n, now() - n * interval '1 minute', now(), outcome
    FROM delivery, (VALUES (1, 'timeout'), (2, 'timeout'), (3, 'delivered'), (9, 'gone')) given (n, outcome)`)
  const text = await eventually(async () => {
    const found = await scrape(worker.url)
    return valueOf(found, 'ringledger_webhook_calls_unaccounted') !== undefined && found
  })
  t.equal(valueOf(text, 'ringledger_webhook_calls_unaccounted'), 0)
  const skipped = (reason: string) => valueOf(text, `ringledger_webhook_calls_skipped_total{reason="${reason}"}`)
  t.strictSame((['invalid', 'unknown_assistant'] as const).map((reason) => (skipped(reason) ?? NaN) - before[reason]), [1, 1])
  const recent = (outcome: string) => valueOf(text, `ringledger_webhook_attempts_recent{outcome="${outcome}"}`)
  t.strictSame(['timeout', 'delivered', 'running', 'gone'].map(recent), [2, 1, 1, undefined])

  await pool.query("DELETE FROM ledger.webhook_deliveries WHERE call_id = 'm-1'")
  await continueAudit({ ...service.parts, signal: new AbortController().signal }) // a worker does, once a minute
  t.equal(valueOf(await scrape(worker.url), 'ringledger_webhook_calls_unaccounted'), 1)
})

t.test('a figure that cannot be read is left out, also one without labels, and counted; the others are there', async (t) => {
  const { pool } = service.parts
  await pool.query('ALTER TABLE ledger.leases RENAME TO elsewhere')
  const text = await scrape(service.url)
  await pool.query('ALTER TABLE ledger.elsewhere RENAME TO leases')
  t.notMatch(text, /^ringledger_lease_held\{/m)
  t.match(text, /^ringledger_postgres_connections\{/m)
  t.equal(valueOf(await scrape(service.url), 'ringledger_metrics_failures_total{metric="lease_held"}'), 1)
  const oldestDue = async () => valueOf(await scrape(worker.url), 'ringledger_webhook_oldest_due_seconds')
  await pool.query('ALTER TABLE ledger.webhook_due RENAME TO elsewhere')
  await eventually(async () => await oldestDue() === undefined)
  await pool.query('ALTER TABLE ledger.elsewhere RENAME TO webhook_due')
  await eventually(async () => await oldestDue() !== undefined)
})

t.test('every metric of every role is documented and recorded', async (t) => {
  const text = await scrape(service.url) + await scrape(worker.url)
  const measured = new Set([...text.matchAll(/^# TYPE (ringledger_\w+)/gm)].map(([, name = '']) => name))
  const recorded = [...(await readFile('test/golden/surfaces/metrics.txt', 'utf8')).matchAll(/^\w+ (ringledger_\w+)\{/gm)]
  t.same([...measured].sort(), recorded.map(([, name = '']) => name).sort())
  const documents = await readFile('docs/operations.md', 'utf8')
  t.same([...measured].filter((name) => !documents.includes(`\`${name}\``)), [])
})
