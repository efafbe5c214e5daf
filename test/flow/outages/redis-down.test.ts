// Redis goes and comes back: callers notice nothing.
import { randomUUID } from 'node:crypto'
import t, { type Test } from 'tap'
import { callReport, newAssistant, newLead } from '../../support/bodies/bodies.js'
import { eventually } from '../../support/eventually.js'
import { noRedis, scratchRedis } from '../../support/back-ends/redis.js'
import { caller, type Call } from '../../support/running-service.js'
import { testService } from '../../support/service.js'

// A request that waits for Redis waits for as long as Redis is away; the rest is what a busy machine takes.
const hangsAfterMs = 15_000
const numbers = Array.from({ length: 100 }, (_, index) => `+1555124${String(index).padStart(4, '0')}`)

t.test('with Redis down requests are answered as before, and nothing is limited', { skip: noRedis() }, async (t) => {
  const redis = await scratchRedis(t)
  const service = await testService(t, [])
  const { url } = await service.start(['api', 'projector', 'worker'], {
    REDIS_URL: redis.url, RATE_LIMIT_PER_MINUTE: '600'
  })
  const [token, engine] = [await service.token('1'), await service.token('engine', 'engine')]
  const call = caller(url)
  const isAsEver = () => answersAsEver(t, call, token, engine)
  const left = async () =>
    Number((await call('GET', '/user/campaigns', { token })).headers.get('x-ratelimit-remaining'))
  const isCounted = () => eventually(async () => {
    const before = await left()
    return await left() < before
  }, 5_000)

  await isCounted()
  await isAsEver()
  await redis.kill()
  await isAsEver()
  await redis.start()
  await isCounted()
  await isAsEver()
})

/** One request to each endpoint that Redis could hold up. */
async function answersAsEver (t: Test, call: Call, token: string, engine: string): Promise<void> {
  const created = await call('POST', '/user/assistant', { token, body: newAssistant() })
  t.equal(created.status, 201)
  const id = created.body.data?.id ?? 0
  // A machine with much to do may show it later.
  await eventually(async () => (await call('GET', `/user/assistant/${id}`, { token })).status === 200)
  const beganAt = performance.now()
  const answers = await Promise.all([
    call('PUT', `/user/assistant/${id}`, { token, body: { record_call: true } }),
    call('POST', '/user/lead', { token, body: newLead({ phone_number: numbers.shift() }) }),
    call('GET', `/user/assistant/${id}`, { token }),
    call('GET', '/user/leads', { token }),
    call('POST', `/engine/calls/${randomUUID()}/completed`, { token: engine, body: callReport(id) })
  ])
  t.strictSame(answers.map(({ status }) => status), [200, 200, 200, 200, 202])
  const ms = Math.round(performance.now() - beganAt)
  t.ok(ms < hangsAfterMs, `five answers within ${ms} ms`)
}
