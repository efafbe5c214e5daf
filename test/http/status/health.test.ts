// /health/ready: a read model that is not fed is noticed within ten seconds, and who starts behind is not ready.
import t from 'tap'
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
  const since = performance.now()
  for (const { url } of [service, standby]) {
    await eventually(async () => (await ready(url)).status === 503)
    const { checks } = await ready(url)
    t.match(checks, { 'projection assistants': 'failing', postgres: 'ok', eventStore: 'ok' })
  }
  // It takes less than ten seconds; other work of the machine may take as long again.
  t.ok(performance.now() - since < 20_000, `after ${Math.round(performance.now() - since)} ms`)
  t.equal(await aliveMetric(), '0')
  t.equal((await ready(api.url)).status, 200, 'who only answers is not concerned')
  await blocker.query('ROLLBACK')
  await eventually(async () => (await ready(service.url)).status === 200 && (await ready(standby.url)).status === 200)
  t.equal(await aliveMetric(), '1')
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
