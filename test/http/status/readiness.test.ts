// What probes ask for is found out once for all of them, and only operators hear what is wrong.
import { setTimeout as delay } from 'node:timers/promises'
import fastify from 'fastify'
import t, { type Test } from 'tap'
import { EventStoreUnavailable } from '../../../src/log/errors.js'
import { registerAuth } from '../../../src/http/auth.js'
import { addHealth, type HealthChecks } from '../../../src/http/health.js'
import { claims, secret, signed } from '../auth/tokens.js'
import { eventually } from '../../support/eventually.js'
import { testService } from '../../support/service.js'

async function probed (t: Test, checks: HealthChecks, everyMs: number, told: string[] = []) {
  const app = fastify({ logger: { stream: { write: (line: string) => { told.push(line) } } } })
  await registerAuth(app, { roleClaim: 'role', secret })
  addHealth(app, checks, everyMs)
  t.teardown(() => app.close())
  return async (token?: string) => {
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
    const answer = await app.inject({ url: '/health/ready', headers })
    return { status: answer.statusCode, body: answer.json<{ status: string, checks?: object }>() }
  }
}

t.test('all who ask within a second get the answer of one run', async (t) => {
  let runs = 0
  const ready = await probed(t, { counted: async () => { runs++ } }, 60_000)
  const answers = await Promise.all(Array.from({ length: 200 }, () => ready()))
  t.ok(answers.every(({ status }) => status === 200))
  t.equal((await ready()).status, 200)
  t.equal(runs, 1)
})

t.test('a check that does not end is a failure, and is not begun again', async (t) => {
  let begun = 0
  const ready = await probed(t, {
    hangs: () => {
      begun++
      return new Promise(() => {})
    }
  }, 0)
  t.equal((await ready()).status, 503)
  t.equal((await ready()).status, 503)
  t.equal(begun, 1)
})

t.test('a check that is late is told with its reason, unless that is an outage of the event store', async (t) => {
  const told: string[] = []
  const failsLate = async (error: Error) => { throw await delay(2_500, error) }
  const ready = await probed(t, {
    outage: () => failsLate(new EventStoreUnavailable('silent')), other: () => failsLate(new Error('the reason'))
  }, 60_000, told)
  t.equal((await ready()).status, 503)
  const notReady = () => told.filter((line) => line.includes('"not ready"'))
  await eventually(async () => notReady().length > 0)
  t.match(notReady(), [/the reason.*"check":"other"/])
  t.equal(notReady().length, 1)
})

t.test('what is wrong is told to operators, to all others whether something is', async (t) => {
  const ready = await probed(t, { fine: async () => {}, broken: async () => { throw new Error('no') } }, 0)
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
  const { url } = await testService(t, ['worker'])
  for (const path of ['/health/ready', '/health/live']) {
    const probe = async () => {
      const answer = await fetch(`${url}${path}`, { headers: { authorization: 'Bearer garbage' } })
      await answer.text()
      return answer.status
    }
    const statuses = await Promise.all(Array.from({ length: 300 }, probe))
    t.strictSame([...new Set(statuses)], [200], path)
  }
})
