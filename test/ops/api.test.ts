// What operators are told over HTTP, who is told it, and what is done about webhooks and parked events.
import t from 'tap'
import { proposed } from '../support/events/call-events.js'
import { eventually } from '../support/eventually.js'
import { callReport, newAssistant } from '../support/bodies/bodies.js'
import { answers, receiver } from '../support/receivers/receiver.js'
import { testService } from '../support/service.js'

const service = await testService(t, ['api', 'projector', 'worker'], {
  WEBHOOK_SCHEDULE: '0s,0s,0s,1h', WEBHOOK_ALLOW_HTTP: 'true', WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8'
})
const { call, parts: { pool } } = service
const authorization = `Bearer ${await service.token('operator', 'ops')}`
const ops = (method: string, path: string, body?: unknown) =>
  call(method, `/ops/api${path}`, body, { headers: { authorization } })
const { url } = await receiver(t, answers(500))

/** A service that has just started gives no ids yet. */
const createAssistant = (settings: object = {}): Promise<number> => eventually(async () =>
  (await call('POST', '/user/assistant', newAssistant(settings))).body.data?.id ?? false)
const lists = ['/projections', '/actions', '/parked', '/deliveries', '/webhooks', '/work', '/settings', '/checks', '/queue', '/day']

t.test('operators alone are let in: strangers are not known, users and call engines may not', async (t) => {
  const { key } = (await call('POST', '/user/api-key', { name: 'all', scopes: ['read', 'write', 'webhooks'] })).body.data
  const callers = { 401: 'x', 403: await service.token('1') }
  for (const path of lists) {
    t.equal((await ops('GET', path)).status, 200, path)
    for (const [status, token] of Object.entries(callers)) {
      t.equal((await call('GET', `/ops/api${path}`, undefined, { headers: { authorization: `Bearer ${token}` } })).status, Number(status), path)
    }
  }
  for (const token of [key, await service.token('engine', 'engine')]) {
    t.equal((await call('POST', '/ops/api/projections/leads/pause', undefined, { headers: { authorization: `Bearer ${token}` } })).status, 403)
  }
})

t.test('a webhook that fails is seen, with its deliveries, and is resumed by an operator', async (t) => {
  const id = await createAssistant({ webhook_url: `${url}?key=hidden`, is_webhook_active: true })
  const engine = { headers: { authorization: `Bearer ${await service.token('engine', 'engine')}` } }
  t.equal((await call('POST', '/engine/calls/failing-1/completed', callReport(id), engine)).status, 202)
  const webhook = await eventually(async () => (await ops('GET', '/webhooks')).body.data[0] ?? false)
  t.match(webhook, { assistant_id: id, user_id: '1', url, state: 'failing', last_error: 'the receiver answered 500', waiting: 1 })
  await eventually(async () => (await ops('GET', '/queue')).body.data.failing_endpoints === 1) // it counts once a second

  const listed = async (query: string) => (await ops('GET', `/deliveries?${query}`)).body
  const [delivery] = (await listed('user_id=1')).data
  t.match(delivery, { call_id: 'failing-1', user_id: '1', status: 'scheduled', url, last_error: 'the receiver answered 500' })
  for (const query of [`url=${encodeURIComponent(url)}`, 'outcome=rejected', 'status_code=500', 'date_from=2020-01-01', 'call_id=failing-1']) {
    t.same((await listed(query)).data.map((each: { id: string }) => each.id), [delivery.id], query)
  }
  for (const query of ['user_id=2', 'url=https://other', 'outcome=dns', 'date_to=2020-01-01', 'reason=gone']) {
    t.same((await listed(query)).data, [], query)
  }
  t.match(await listed('status=lost&after=x'), { errors: { status: [String], after: [String] } })
  t.match((await ops('GET', `/deliveries/${delivery.id}`)).body.data, { user_id: '1', attempts: [{ outcome: 'rejected' }], request: { method: 'POST' } })

  const failed = delivery.attempt_count
  t.equal((await ops('POST', `/deliveries/${delivery.id}/redeliver`)).status, 202)
  await eventually(async () => (await ops('GET', `/deliveries/${delivery.id}`)).body.data.attempts.length > failed)
  t.equal((await ops('POST', `/webhooks/${id}/resume`)).status, 409, 'nothing suspends it')
  await pool.query("UPDATE ledger.webhooks SET suspended_at = now(), suspended_reason = 'failing' WHERE assistant_id = $1", [id])
  t.match((await ops('GET', '/webhooks?state=suspended')).body.data, [{ assistant_id: id, reason: 'failing' }])
  t.match((await ops('POST', `/webhooks/${id}/resume`)).body, { message: 'It is sent to again; 1 deliveries were held.' })
})

t.test('a parked event is seen, retried in vain, and given up', async (t) => {
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

t.test('durable work is listed, the oldest first, behind it what failed within a day', async (t) => {
  await pool.query(`
    INSERT INTO ledger.work (id, kind, user_id, state, input, failures, last_error, due_at, finished_at, reason) VALUES
      (gen_random_uuid(), 'webhook-recovery', '7', 'accepted', '{}', 2, 'connection lost', now() + interval '1 hour', NULL, NULL),
      (gen_random_uuid(), 'lead-import', '8', 'failed', '{}', 0, NULL, now(), now(), 'The campaign was deleted.'),
      (gen_random_uuid(), 'lead-import', '9', 'failed', '{}', 0, NULL, now(), now() - interval '2 days', 'Long ago.')`)
  t.match((await ops('GET', '/work')).body.data, [
    { kind: 'webhook-recovery', user_id: '7', state: 'accepted', failures: 2, last_error: 'connection lost', finished_at: null },
    { kind: 'lead-import', user_id: '8', state: 'failed', last_error: 'The campaign was deleted.' }
  ])
})

t.test('settings are told without secrets, and the doctor looks at the back ends that are used', async (t) => {
  const { data } = (await ops('GET', '/settings')).body
  const setting = (name: string) => data.find((each: { name: string }) => each.name === name)
  t.same(setting('WEBHOOK_SCHEDULE'), { name: 'WEBHOOK_SCHEDULE', value: '0s,0s,0s,1h', is_set: true })
  t.same(setting('WEBHOOK_RETENTION_DAYS'), { name: 'WEBHOOK_RETENTION_DAYS', value: '90', is_set: false })
  t.same(setting('JWT_SECRET'), { name: 'JWT_SECRET', value: null, is_set: true })
  const found: { part: string, check: string, level: string, found: string }[] = await eventually(async () => {
    const { data } = (await ops('GET', '/checks')).body // it looks once in ten seconds
    return data.some(({ check, level }: { check: string, level: string }) => check === 'failing webhooks' && level === 'warning') && data
  }, 20_000)
  const check = (part: string, name: string) => found.find((each) => each.part === part && each.check === name)
  t.equal(check('Postgres', 'reachable')?.level, 'ok')
  t.equal(check('Event store', 'reachable')?.level, 'ok')
  t.match(check('Service', 'failing webhooks'), { found: /^1 fail, 0 are suspended: .*\/hook of user 1, failing since .*: the receiver answered 500$/ })
  t.notMatch(JSON.stringify([data, found]), 'hidden')
})

const texts = ['\0', '\ud83d', '../..', "';--", '<script>', '9'.repeat(30), 'x'.repeat(3_000)]
const addresses = ['%00', '%F0%9F', ...texts.slice(2).map(encodeURIComponent)]

t.test('what somebody types into an address is refused or not found, and no failure', async (t) => {
  for (const place of ['/actions/', '/deliveries/', '/webhooks?state=']) {
    for (const odd of addresses) t.ok((await ops('GET', place + odd)).status < 500, `${place}${odd.slice(0, 40)}`)
  }
})

t.test('so it is in a body, and in an address that changes something', async (t) => {
  const requests: [path: string, body?: object][] = [
    ...addresses.flatMap((odd): [string][] => [
      [`/projections/${odd}/replay`], [`/projections/leads/${odd}`], [`/projections/${odd}/close-breaker`],
      [`/webhooks/${odd}/resume`], [`/deliveries/${odd}/redeliver`]
    ]),
    ...texts.flatMap((text): [string, object][] => [
      ['/parked/retry', { projection: 'leads', stream: text }],
      ['/parked/retry', { projection: text, stream: 'lead-1' }],
      ['/parked/skip', { projection: 'leads', stream: text, revision: '0', reason: text }],
      ['/parked/skip', { projection: 'leads', stream: 'lead-1', revision: text, reason: 'a test' }]
    ])
  ]
  for (const [path, body] of requests) {
    const { status } = await ops('POST', path, body)
    t.ok(status >= 400 && status < 500, `${path.slice(0, 60)} ${JSON.stringify(body)?.slice(0, 80)}: ${status}`)
  }
})
