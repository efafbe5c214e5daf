// A projector of a new release rebuilds what the former one has folded, when it is told to.
import t from 'tap'
import { leads } from '../../../projections/leads.js'
import { newestActions } from '../../../projections/engine/actions.js'
import { generationsOf } from '../../../projections/engine/generations.js'
import { eventually } from '../../support/eventually.js'
import { newAssistant, testService } from '../../support/service.js'

const service = await testService(t, ['api', 'projector'])
const { parts: { pool }, call } = service
await call('POST', '/user/assistant', newAssistant)
await call('POST', '/user/lead', { phone_number: '+15551230100', campaign_id: 1 })
const states = async () => (await generationsOf(pool, leads))
  .map(({ generation, state, codeVersion }) => [generation, state, codeVersion])
const foldedBy = (version: number) =>
  pool.query(
    "UPDATE ledger.generations SET code_version = $1 WHERE projection = 'leads' AND state = 'active'", [version]
  )

t.test('what a later version has folded stays, and so does everything where nobody asked for it', async (t) => {
  await foldedBy(leads.version - 1)
  const manual = await service.start(['projector'])
  await foldedBy(leads.version + 1)
  const late = await service.start(['projector'], { PROJECTION_REBUILD: 'auto' })
  await Promise.all([manual.stop(), late.stop()])
  t.same(await states(), [[1, 'active', leads.version + 1]])
  t.same(await newestActions(pool, 10), [])
})

t.test('what an earlier version has folded is replayed by one of the projectors, and readers see it', async (t) => {
  await foldedBy(leads.version - 1)
  await Promise.all([1, 2].map(() => service.start(['projector'], { PROJECTION_REBUILD: 'auto' })))
  await eventually(
    async () => (await states()).some(([generation, state]) => generation === 2 && state === 'active'), 60_000
  )
  t.same(await states(), [[1, 'retained', leads.version - 1], [2, 'active', leads.version]])
  await eventually(async () => (await newestActions(pool, 10)).every(({ state }) => state === 'done'))
  t.match(await newestActions(pool, 10), [{ action: 'replay', projection: 'leads', message: /^Replayed leads/ }])
  const { body } = await call('GET', '/user/leads')
  t.equal(body.data.length, 1)
})
