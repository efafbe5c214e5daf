// /health/ready: a read model that is not fed is noticed, who starts behind is not ready, what probes ask for is found
// out once for all of them, and only operators hear what is wrong.
import { setTimeout as delay } from 'node:timers/promises'
import fastify from 'fastify'
import t, { type Test } from 'tap'
import { registerAuth } from '../../../src/http/auth.js'
import { addHealth, type HealthChecks } from '../../../src/http/health.js'
import { EventStoreUnavailable } from '../../../src/log/errors.js'
import { claims, secret, signed, tokensAlone } from '../auth/tokens.js'
import { projections } from '../../../projections/index.js'
import { eventually } from '../../support/eventually.js'
import { untilReady, caller } from '../../support/running-service.js'
import { newAssistant, testService } from '../../support/service.js'

const METRICS_TOKEN = `${'m'.repeat(32)}1`
const service = await testService(t, ['api', 'projector'], { METRICS_TOKEN })
const standby = await service.start(['projector'])
const api = await service.start(['api'])
for (const { url } of [standby, api]) await untilReady(url)

async function ready (url: string): Promise<{ status: number, checks: Record<string, string> }> {
  const headers = { authorization: `Bearer ${await service.token('operator', 'ops')}` }
  const response = await fetch(`${url}/health/ready`, { headers })
  return { ...await response.json() as { checks: Record<string, string> }, status: response.status }
}

const aliveMetric = async () => /^ringledger_projection_alive\{projection="assistants"\} (\d)$/m
  .exec(await (await fetch(`${service.url}/metrics`, {
    headers: { authorization: `Bearer ${METRICS_TOKEN}` }
  })).text())?.[1]

t.test('a role says what it needs', async (t) => {
  const feeds = Object.fromEntries(projections.map(({ name }) => [`projection ${name}`, 'ok']))
  const ofAll = { postgres: 'ok', disk: 'ok', eventStore: 'ok', ledger: 'ok', log: 'ok', readModels: 'ok' }
  t.strictSame(await ready(standby.url), { status: 200, checks: { ...ofAll, ...feeds } })
  t.strictSame((await ready(api.url)).checks, { ...ofAll, eventStoreWrites: 'ok', ids: 'ok' })
})

t.test('every projector reports a read model that stands still while the log moves, until it moves again', async (t) => {
  const blocker = await service.parts.pool.connect()
  t.teardown(() => blocker.release(true))
  // whatever it is that holds the owner up
  await blocker.query('BEGIN; SELECT FROM read_assistants_g1.checkpoint FOR UPDATE')
  await service.call('POST', '/user/assistant', newAssistant)
  for (const { url } of [service, standby]) {
    const { checks } = await eventually(async () => {
      const found = await ready(url)
      return found.status === 503 && found
    })
    t.match(checks, { 'projection assistants': 'failing', postgres: 'ok', eventStore: 'ok' })
  }
  await eventually(async () => await aliveMetric() === '0')
  t.equal((await ready(api.url)).status, 200, 'who only answers is not concerned')
  await blocker.query('ROLLBACK')
  await eventually(async () => (await ready(service.url)).status === 200 && (await ready(standby.url)).status === 200)
  await eventually(async () => await aliveMetric() === '1')
})

t.test('an API is ready once ids are given out, and says what it waits for', async (t) => {
  t.match(await eventually(async () => (await service.call('POST', '/user/assistant', newAssistant))), { status: 201 })
  const blocker = await service.parts.pool.connect()
  t.teardown(() => blocker.release(true))
  await blocker.query('BEGIN; SELECT FROM read_leads_g1.checkpoint FOR UPDATE') // whatever it is that holds it up
  const before = await service.call('POST', '/user/assistant', newAssistant)
  t.equal(before.status, 201, 'an API that had caught up goes on')
  const { url } = await service.start(['api'], { READ_MODEL_WAIT_MS: '200' })
  const token = await service.token('1')
  const create = () => caller(url)('POST', '/user/assistant', { token, body: newAssistant })

  for (const answer of [await ready(url), await ready(url)]) {
    t.match(answer, { status: 503, checks: { ids: 'failing', readModels: 'ok' } })
  }
  t.equal((await create()).status, 503)
  t.match((await ready(service.url)).checks, { ids: 'ok' })

  await blocker.query('ROLLBACK')
  await eventually(async () => (await ready(url)).status === 200)
  t.equal((await create()).status, 201, 'who is ready creates')
  await blocker.query('BEGIN; SELECT FROM read_leads_g1.checkpoint FOR UPDATE')
  await create()
  t.match((await ready(url)).checks, { ids: 'ok' }, 'later lag does not count')
  await blocker.query('ROLLBACK')
})

async function probed (t: Test, checks: HealthChecks, told: string[] = []) {
  const app = fastify({ logger: { stream: { write: (line: string) => { told.push(line) } } } })
  await registerAuth(app, { roleClaim: 'role', secret }, tokensAlone)
  addHealth(app, checks)
  t.teardown(() => app.close())
  return async (token?: string) => {
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
    const answer = await app.inject({ url: '/health/ready', headers })
    return { status: answer.statusCode, body: answer.json<{ status: string, checks?: object }>() }
  }
}

t.test('all who ask within a second get the answer of one run', async (t) => {
  let runs = 0
  const ready = await probed(t, { counted: async () => { runs++ } })
  const answers = await Promise.all(Array.from({ length: 50 }, () => ready()))
  t.ok(answers.every(({ status }) => status === 200))
  t.equal(runs, 1)
})

t.test('a check that does not end is a failure, and is not begun again', async (t) => {
  let begun = 0
  const ready = await probed(t, {
    hangs: () => {
      begun++
      return new Promise(() => {})
    }
  })
  t.equal((await ready()).status, 503)
  t.equal((await ready()).status, 503)
  t.equal(begun, 1)
})

t.test('a check that is late is told with its reason, unless that is an outage of the event store', async (t) => {
  const told: string[] = []
  const failsLate = async (error: Error) => { throw await delay(2_500, error) }
  const ready = await probed(t, {
    outage: () => failsLate(new EventStoreUnavailable('silent')), other: () => failsLate(new Error('the reason'))
  }, told)
  t.equal((await ready()).status, 503)
  const notReady = () => told.filter((line) => line.includes('"not ready"'))
  await eventually(async () => notReady().length > 0)
  t.match(notReady(), [/the reason.*"check":"other"/])
  t.equal(notReady().length, 1)
})

t.test('what is wrong is told to operators, to all others whether something is', async (t) => {
  const ready = await probed(t, { fine: async () => {}, broken: async () => { throw new Error('no') } })
  t.strictSame(await ready(await signed(claims({ role: 'ops' }))), {
    status: 503,
    body: { message: 'Not ready: broken.', status: 'failing', checks: { fine: 'ok', broken: 'failing' } }
  })
  const others = [claims(), claims({ role: 'engine' }), claims({ role: 'ops', exp: 1 })].map((payload) => signed(payload))
  for (const token of [undefined, 'garbage', ...await Promise.all(others)]) {
    t.strictSame(await ready(token), { status: 503, body: { message: 'The service is not ready.', status: 'failing' } })
  }
})

t.test('probes are never limited, whatever token they carry', async (t) => {
  for (const path of ['/health/ready', '/health/live']) {
    const probe = async () => {
      const answer = await fetch(`${service.url}${path}`, { headers: { authorization: 'Bearer garbage' } })
      await answer.text()
      return answer.status
    }
    const statuses = await Promise.all(Array.from({ length: 300 }, probe))
    t.strictSame([...new Set(statuses)], [200], path)
  }
})
