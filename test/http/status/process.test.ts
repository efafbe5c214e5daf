// A process tells of itself. /metrics: to operators and the scraper, in every role, with few labels. /health/ready: it
// notices a read model that nobody feeds, is not ready when it starts behind, and shares one run of the checks among
// all probes; only operators learn what is wrong. /ops/api: what they see and do about webhooks, parked events, work.
import { readFile } from 'node:fs/promises'
import fastify from 'fastify'
import t, { type Test } from 'tap'
import { projections } from '../../../projections/index.js'
import { registerAuth } from '../../../src/http/auth.js'
import { digestOf } from '../../../src/http/credentials.js'
import { addHealth, addMetrics, type HealthChecks } from '../../../src/http/health.js'
import { registerRateLimits } from '../../../src/http/limits.js'
import { openMetrics } from '../../../src/http/metrics.js'
import { revokeNow } from '../../../src/cli/token.js'
import { noStream } from '../../../src/log/event-log.js'
import { skippedCalls } from '../../../workers/dispatch/effects.js'
import { callCompleted, proposed } from '../../support/events/call-events.js'
import { callReport } from '../../support/bodies/bodies.js'
import { eventually } from '../../support/eventually.js'
import { answers, receiver } from '../../support/receivers/receiver.js'
import { caller, valueOf } from '../../support/running-service.js'
import { newAssistant, testService } from '../../support/service.js'
import { claims, secret, signed, tokensAlone } from '../auth/tokens.js'

const METRICS_TOKEN = `${'m'.repeat(32)}1`
const service = await testService(t, ['api', 'projector'], {
  METRICS_TOKEN, BASE_PATH: '/api', WEBHOOK_SCHEDULE: '0s,0s,0s,1h', WEBHOOK_ALLOW_HTTP: 'true', WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8'
})
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

t.test('/metrics lets the scraper and operators in, nobody else', async (t) => {
  for (const url of [service.url, worker.url]) {
    for (const token of [METRICS_TOKEN, await service.token('op', 'ops')]) t.match(await scrape(url, token), /^ringledger_/m)
    t.equal((await refused(t, '', 401, url)).headers.get('www-authenticate'), 'Bearer')
    await refused(t, `Bearer ${METRICS_TOKEN}x`, 401, url)
    for (const token of [await service.token('1'), await service.token('e', 'engine')]) await refused(t, `Bearer ${token}`, 403, url)
  }
})

t.test('requests are counted by route pattern and status, never by what was asked for', async (t) => {
  await service.call('GET', '/api/user/assistant/987654321?secret=query')
  await service.call('GET', '/nowhere/at/all')
  const text = await scrape(service.url)
  for (const labels of ['method="GET",route="/api/user/assistant/:id",status="404"', 'method="GET",route="none",status="404"']) {
    t.equal(valueOf(text, `ringledger_http_request_duration_seconds_count{${labels}}`), 1)
  }
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
    t.equal(valueOf(text, `ringledger_lease_held{lease="projection ${name} g1"}`), 1)
  }
  t.equal(valueOf(text, 'ringledger_projection_lag_positions{projection="assistants"}'), 0)
  t.ok((valueOf(text, 'ringledger_consumer_events_total{consumer="projection assistants g1"}') ?? 0) >= 1)
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

t.test('a worker reports calls that it skipped, and that none is missed', async () => {
  const before = { ...skippedCalls }
  const { data, ...unfit } = callCompleted('unfit')
  for (const told of [{ ...unfit, data: { ...data, duration: 'long' } }, callCompleted('nobodys', { assistant_id: 7_777 })]) {
    await service.parts.streams.append(told.stream, [proposed(told)], noStream)
  }
  const skipped = (text: string) => (['invalid', 'unknown_assistant'] as const).map((reason) =>
    (valueOf(text, `ringledger_webhook_calls_skipped_total{reason="${reason}"}`) ?? NaN) - before[reason])
  await eventually(async () => skipped(await scrape(worker.url)).join() === '1,1')
  await eventually(async () => valueOf(await scrape(worker.url), 'ringledger_webhook_calls_unaccounted') === 0)
})

t.test('a figure that cannot be read is left out and counted; the others are there', async (t) => {
  const { pool } = service.parts
  await pool.query('ALTER TABLE ledger.leases RENAME TO elsewhere')
  const text = await scrape(service.url)
  await pool.query('ALTER TABLE ledger.elsewhere RENAME TO leases')
  t.notMatch(text, /^ringledger_lease_held\{/m)
  t.match(text, /^ringledger_postgres_connections\{/m)
  t.equal(valueOf(await scrape(service.url), 'ringledger_metrics_failures_total{metric="lease_held"}'), 1)
})

t.test('every metric of every role is documented and recorded', async (t) => {
  const text = await scrape(service.url) + await scrape(worker.url)
  const measured = new Set([...text.matchAll(/^# TYPE (ringledger_\w+)/gm)].map(([, name = '']) => name))
  const recorded = [...(await readFile('test/golden/surfaces/metrics.txt', 'utf8')).matchAll(/^\w+ (ringledger_\w+)\{/gm)]
  t.same([...measured].sort(), recorded.map(([, name = '']) => name).sort())
  const documents = await readFile('docs/operations.md', 'utf8')
  t.same([...measured].filter((name) => !documents.includes(`\`${name}\``)), [])
})

t.test('a token that was revoked is refused by a worker, too, for what it shows', async (t) => {
  const ops = await service.token('operator', 'ops')
  t.match(await scrape(worker.url, ops), /^ringledger_/m)
  const { jti }: { jti: string } = JSON.parse(Buffer.from(ops.split('.')[1] ?? '', 'base64url').toString())
  await revokeNow(service.parts, digestOf(jti))
  await eventually(async () => (await fetch(`${worker.url}/metrics`, { headers: { authorization: `Bearer ${ops}` } })).status === 401)
})

async function ready (url: string): Promise<{ status: number, checks: Record<string, string> }> {
  const headers = { authorization: `Bearer ${await service.token('operator', 'ops')}` }
  const response = await fetch(`${url}/health/ready`, { headers })
  return { ...await response.json() as { checks: Record<string, string> }, status: response.status }
}

const aliveMetric = async () => valueOf(await scrape(service.url), 'ringledger_projection_alive{projection="assistants"}')

t.test('read models stand still: a projector says so until they move, and an API waits that has not caught up', async (t) => {
  const blocker = await service.parts.pool.connect()
  t.teardown(() => blocker.release(true))
  const lock = 'SELECT FROM read_leads_g1.checkpoint FOR UPDATE' // whatever it is that holds the owner up
  await blocker.query(`BEGIN; SELECT FROM read_assistants_g1.checkpoint FOR UPDATE; ${lock}`)
  const before = await service.call('POST', '/api/user/assistant', newAssistant)
  t.equal(before.status, 201, 'an API that had caught up goes on')
  const { url } = await service.start(['api'], { READ_MODEL_WAIT_MS: '200' })
  const token = await service.token('1')
  const create = () => caller(url)('POST', '/api/user/assistant', { token, body: newAssistant })
  for (const answer of [await ready(url), await ready(url)]) {
    t.match(answer, { status: 503, checks: { ids: 'failing', readModels: 'ok' } })
  }
  t.equal((await create()).status, 503)
  const { checks } = await eventually(async () => {
    const found = await ready(service.url)
    return found.status === 503 && found
  })
  t.match(checks, { 'projection assistants': 'failing', postgres: 'ok', eventStore: 'ok', ids: 'ok' })
  await eventually(async () => await aliveMetric() === 0)

  await blocker.query('ROLLBACK')
  for (const each of [url, service.url]) await eventually(async () => (await ready(each)).status === 200)
  t.strictSame(Object.keys((await ready(url)).checks).sort(), [
    'disk', 'eventStore', 'eventStoreWrites', 'ids', 'ledger', 'log', 'postgres', 'readModels'
  ], 'it feeds no read model')
  await eventually(async () => await aliveMetric() === 1)
  t.equal((await create()).status, 201, 'who is ready creates')
  await blocker.query(`BEGIN; ${lock}`)
  await create()
  t.match((await ready(url)).checks, { ids: 'ok' }, 'later lag does not count')
  await blocker.query('ROLLBACK')
})

async function probed (t: Test, checks: HealthChecks) {
  const app = fastify()
  await registerAuth(app, { roleClaim: 'role', secret }, tokensAlone)
  await registerRateLimits(app, { perMinute: 0 })
  addHealth(app, checks)
  addMetrics(app, openMetrics(app.log), '')
  t.teardown(() => app.close())
  return async (token?: string, url = '/health/ready') => {
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
    const { statusCode: status, body } = await app.inject({ url, headers })
    return { status, body: url === '/metrics' ? '' : JSON.parse(body) as object }
  }
}

t.test('without METRICS_TOKEN only operators are let in', async (t) => {
  const ask = await probed(t, {})
  for (const token of ['', 'x']) t.equal((await ask(token, '/metrics')).status, 401)
  t.equal((await ask(await signed(claims({ role: 'ops' })), '/metrics')).status, 200)
})

t.test('all who ask within a second get the answer of one run, and a check that does not end is not begun again', async (t) => {
  let [runs, begun] = [0, 0]
  const ready = await probed(t, { counted: async () => { runs++ } })
  const answers = await Promise.all(Array.from({ length: 50 }, () => ready()))
  t.ok(answers.every(({ status }) => status === 200))
  t.equal(runs, 1)
  const hanging = await probed(t, { hangs: () => new Promise(() => { begun++ }) })
  t.same([(await hanging()).status, (await hanging()).status, begun], [503, 503, 1])
})

t.test('/health/ready tells operators what is wrong, and all others whether something is', async (t) => {
  const ready = await probed(t, { fine: async () => {}, broken: async () => { throw new Error('no') } })
  t.strictSame(await ready(await signed(claims({ role: 'ops' }))), {
    status: 503,
    body: { message: 'Not ready: broken.', status: 'failing', checks: { fine: 'ok', broken: 'failing' } }
  })
  for (const token of [undefined, 'garbage', await signed(claims()), await signed(claims({ role: 'ops', exp: 1 }))]) {
    t.strictSame(await ready(token), { status: 503, body: { message: 'The service is not ready.', status: 'failing' } })
  }
})

const call: typeof service.call = (method, path, ...more) => service.call(method, `/api${path}`, ...more)
const authorization = `Bearer ${await service.token('operator', 'ops')}`
const ops = (method: string, path: string, body?: unknown) =>
  call(method, `/ops/api${path}`, body, { headers: { authorization } })
const { url: failingUrl } = await receiver(t, answers(500))

/** A service that has just started gives no ids yet. */
const createAssistant = (settings: object = {}): Promise<number> => eventually(async () =>
  (await call('POST', '/user/assistant', { ...newAssistant, ...settings })).body.data?.id ?? false)
t.test('an operator sees a webhook that fails with its deliveries, and resumes it', async (t) => {
  const id = await createAssistant({ webhook_url: `${failingUrl}?key=hidden`, is_webhook_active: true })
  const engine = { headers: { authorization: `Bearer ${await service.token('engine', 'engine')}` } }
  t.equal((await call('POST', '/engine/calls/failing-1/completed', callReport(id), engine)).status, 202)
  const webhook = await eventually(async () => (await ops('GET', '/webhooks')).body.data[0] ?? false)
  t.match(webhook, { assistant_id: id, user_id: '1', url: failingUrl, state: 'failing', last_error: 'the receiver answered 500', waiting: 1 })
  const listed = async (query: string) => (await ops('GET', `/deliveries?${query}`)).body
  const [delivery] = (await listed('user_id=1')).data
  t.match(delivery, { call_id: 'failing-1', user_id: '1', status: 'scheduled', url: failingUrl, last_error: 'the receiver answered 500' })
  for (const [query, ids] of [
    [`url=${encodeURIComponent(failingUrl)}&status_code=500`, [delivery.id]], ['date_from=2020-01-01&outcome=rejected', [delivery.id]],
    ['user_id=2', []], ['url=https://other', []], ['date_to=2020-01-01', []]
  ] as const) t.same((await listed(query)).data.map((each: { id: string }) => each.id), ids, query)
  t.match((await ops('GET', `/deliveries/${delivery.id}`)).body.data, { user_id: '1', attempts: [{ outcome: 'rejected' }], request: { method: 'POST' } })

  const failed = delivery.attempt_count
  t.equal((await ops('POST', `/deliveries/${delivery.id}/redeliver`)).status, 202)
  await eventually(async () => (await ops('GET', `/deliveries/${delivery.id}`)).body.data.attempts.length > failed)
  t.equal((await ops('POST', `/webhooks/${id}/resume`)).status, 409, 'nothing suspends it')
  await service.parts.pool.query("UPDATE ledger.webhooks SET suspended_at = now(), suspended_reason = 'failing' WHERE assistant_id = $1", [id])
  t.match((await ops('GET', '/webhooks?state=suspended')).body.data, [{ assistant_id: id, reason: 'failing' }])
  t.match((await ops('POST', `/webhooks/${id}/resume`)).body, { message: 'It is sent to again; 1 deliveries were held.' })
})

t.test('an operator sees a parked event, retries it in vain, and gives it up', async (t) => {
  const id = await createAssistant()
  const malformed = proposed({ type: 'AssistantUpdated', data: { nonsense: 1 } })
  await service.parts.streams.append(`assistant-${id}`, [malformed], 0n)
  const ofAssistants = async () => (await ops('GET', '/parked')).body.data.find((each: { projection: string }) => each.projection === 'assistants') ?? false
  const { stream, revision, events } = await eventually(ofAssistants)
  t.same([stream, events], [`assistant-${id}`, 1])
  const given = { projection: 'assistants', stream }
  t.match(await ops('POST', '/parked/retry', given), { status: 409, body: { message: /stays parked, as it was/ } })
  for (const reason of ['', ' ', 'a\0b']) {
    t.match(await ops('POST', '/parked/skip', { ...given, revision, reason }), { status: 422, body: { errors: { reason: [String] } } })
  }
  t.match(await ops('POST', '/parked/skip', { ...given, revision, reason: 'a test' }), { status: 200, body: { message: /No event of the stream is parked/ } })
  t.equal(await ofAssistants(), false)
  t.equal((await ops('POST', '/parked/retry', { ...given, projection: 'nothing' })).status, 404)
  t.equal((await ops('POST', '/projections/assistants/close-breaker')).status, 409)
})

t.test('operators see work, the oldest first, and then what failed within a day', async (t) => {
  await service.parts.pool.query(`
    INSERT INTO ledger.work (id, kind, user_id, state, input, failures, last_error, due_at, finished_at, reason) VALUES
      (gen_random_uuid(), 'webhook-recovery', '7', 'accepted', '{}', 2, 'connection lost', now() + interval '1 hour', NULL, NULL),
      (gen_random_uuid(), 'lead-import', '8', 'failed', '{}', 0, NULL, now(), now(), 'The campaign was deleted.'),
      (gen_random_uuid(), 'lead-import', '9', 'failed', '{}', 0, NULL, now(), now() - interval '2 days', 'Long ago.')`)
  t.match((await ops('GET', '/work')).body.data, [
    { kind: 'webhook-recovery', user_id: '7', state: 'accepted', failures: 2, last_error: 'connection lost', finished_at: null },
    { kind: 'lead-import', user_id: '8', state: 'failed', last_error: 'The campaign was deleted.' }
  ])
})

t.test('operators see settings without secrets, and what the doctor finds', async (t) => {
  const { data } = (await ops('GET', '/settings')).body
  const setting = (name: string) => data.find((each: { name: string }) => each.name === name)
  t.same(setting('WEBHOOK_SCHEDULE'), { name: 'WEBHOOK_SCHEDULE', value: '0s,0s,0s,1h', is_set: true })
  t.same(setting('WEBHOOK_RETENTION_DAYS'), { name: 'WEBHOOK_RETENTION_DAYS', value: '90', is_set: false })
  t.same(setting('JWT_SECRET'), { name: 'JWT_SECRET', value: null, is_set: true })
  const checks: { part: string, check: string, level: string }[] = (await ops('GET', '/checks')).body.data
  for (const part of ['Postgres', 'Event store']) {
    t.equal(checks.find((each) => each.part === part && each.check === 'reachable')?.level, 'ok', part)
  }
  t.notMatch(JSON.stringify([data, checks]), 'hidden')
})

t.test('odd text is refused or not found, and no failure', async (t) => {
  for (const odd of ['%00', '%F0%9F', encodeURIComponent("../..';--")]) {
    for (const path of [`/actions/${odd}`, `/deliveries/${odd}`, `/webhooks?state=${odd}`]) {
      t.ok((await ops('GET', path)).status < 500, path)
    }
    for (const path of [`/projections/${odd}/replay`, `/projections/leads/${odd}`, `/webhooks/${odd}/resume`, `/deliveries/${odd}/redeliver`]) {
      t.match(String((await ops('POST', path)).status), /^4/, path)
    }
  }
  for (const text of ['\0', '\ud83d', 'x'.repeat(3_000)]) {
    for (const body of [{ projection: text, stream: 'lead-1' }, { projection: 'leads', stream: text, revision: text, reason: 'a' }]) {
      t.match(String((await ops('POST', 'revision' in body ? '/parked/skip' : '/parked/retry', body)).status), /^4/)
    }
  }
})
