// /health/ready of the role projector: a read model that is not fed is noticed within ten seconds.
import t from 'tap'
import { projections } from '../../../projections/index.js'
import { eventually } from '../../support/eventually.js'
import { untilReady } from '../../support/running-service.js'
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
  t.strictSame(await ready(standby.url), {
    status: 200,
    checks: { postgres: 'ok', disk: 'ok', eventStore: 'ok', ledger: 'ok', log: 'ok', readModels: 'ok', ...feeds }
  })
  t.strictSame((await ready(api.url)).checks, {
    postgres: 'ok',
    disk: 'ok',
    eventStore: 'ok',
    ledger: 'ok',
    log: 'ok',
    eventStoreWrites: 'ok',
    readModels: 'ok',
    ids: 'ok'
  })
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
  t.ok(performance.now() - since < 10_000, `after ${Math.round(performance.now() - since)} ms`)
  t.equal(await aliveMetric(), '0')
  t.equal((await ready(api.url)).status, 200, 'who only answers is not concerned')
  await blocker.query('ROLLBACK')
  await eventually(async () => (await ready(service.url)).status === 200 && (await ready(standby.url)).status === 200)
  t.equal(await aliveMetric(), '1')
})
