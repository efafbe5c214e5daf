// An API that starts while the read models are behind creates nothing, so it is not ready until they have caught up.
import t from 'tap'
import { eventually } from '../../support/eventually.js'
import { caller } from '../../support/running-service.js'
import { newAssistant, testService } from '../../support/service.js'

const service = await testService(t, ['api', 'projector'])
const projector = await service.start(['projector'])
const [user, operator] = await Promise.all([service.token('1'), service.token('operator', 'ops')])

interface Ready { status: number, body: { checks: Record<string, string> } }
const ready = async (url: string): Promise<Ready> => await caller(url)('GET', '/health/ready', { token: operator })

t.test('an API is ready once ids are given out, and says what it waits for', async (t) => {
  t.match(await eventually(async () => (await service.call('POST', '/user/assistant', newAssistant))), { status: 201 })
  const blocker = await service.parts.pool.connect()
  t.teardown(() => blocker.release(true))
  await blocker.query('BEGIN; SELECT FROM read_leads_g1.checkpoint FOR UPDATE') // whatever it is that holds it up
  const before = await service.call('POST', '/user/assistant', newAssistant)
  t.equal(before.status, 201, 'an API that had caught up goes on')
  const { url } = await service.start(['api'], { READ_MODEL_WAIT_MS: '200' })
  const create = () => caller(url)('POST', '/user/assistant', { token: user, body: newAssistant })

  for (const answer of [await ready(url), await ready(url)]) {
    t.match(answer, { status: 503, body: { status: 'failing', checks: { ids: 'failing', readModels: 'ok' } } })
  }
  t.equal((await create()).status, 503)
  t.match((await ready(service.url)).body.checks, { ids: 'ok' })

  await blocker.query('ROLLBACK')
  await eventually(async () => (await ready(url)).status === 200)
  t.equal((await create()).status, 201, 'who is ready creates')
  await blocker.query('BEGIN; SELECT FROM read_leads_g1.checkpoint FOR UPDATE')
  await create()
  t.match((await ready(url)).body.checks, { ids: 'ok' }, 'later lag does not count')
  await blocker.query('ROLLBACK')
  await projector.stop()
})
