// A log that loses its end while roles run on it, and one that somebody adopts too early.
import t from 'tap'
import { adoptLog } from '../../../src/recovery/mend.js'
import { eventually } from '../../support/eventually.js'
import { created, idOf, restorable } from '../../support/restorable.js'
import { run } from '../../support/ringledger.js'
import { assistants } from '../../../projections/assistants.js'
import { generationsOf } from '../../../projections/engine/generations.js'
import { happen } from '../../recovery/marked-log.js'

const r = await restorable(t)

t.test('a log is not adopted while any role runs, an api too, which holds no subscription', async (t) => {
  const adopt = () => r.withParts(({ pool, streams }) => adoptLog(pool, streams))
  const api = await r.start(['api'])
  await t.rejects(adopt(), { name: 'RoleRuns', message: /\(api\) still holds the lease "role .*stop every role first/ })
  await api.stop()
  t.match(await adopt(), { problem: undefined })
})

t.test('a log that went back under a running API is noticed, however far it grows, and nothing of it is fed', async (t) => {
  const [hook, others] = ['https://example.com/hook', 20]
  const first = await r.start(['api', 'projector'])
  const assistant = idOf(await eventually(async () => created(await first.createAssistant(hook))))
  await first.stop()
  await r.backUpLog()
  const projector = await r.start(['projector'])
  const api = await r.start(['api'])
  await eventually(async () => created(await api.createAssistant(hook)))
  for (let n = 0; n < others; n++) await api.updateAssistant(assistant, { assistant_name: `Name ${n}` })
  t.equal((await api.updateAssistant(assistant, { assistant_name: 'read' })).headers.get('x-read-model'), null)
  await projector.stop()
  await r.restoreLog()
  await r.withParts(async ({ streams }) => { for (let n = 0; n < 4 * others; n++) await happen(streams) })

  t.match(await api.ready(), { status: 503, body: { checks: { log: 'failing' } } })
  t.match(api.logged, [/The event log lacks the event that was read at position \d+: it is older.*`ringledger events adopt`/])
  for (const refused of [
    await api.updateAssistant(assistant, { assistant_name: 'lost' }), await api.createAssistant(hook),
    await api.completeCall('lost', assistant),
    await api.get('/user/assistants', { 'x-read-position': '1' })
  ]) t.equal(refused.status, 503)
  t.equal((await api.get('/user/assistants')).status, 200, 'reads that compare nothing go on')
  await api.stop()
  await t.rejects(r.start(['projector']), { name: 'OtherLog', message: /`ringledger events adopt`/ })
  const replay = await run(t, ['projections', 'replay', 'assistants'], r.env)
  t.match(replay, { code: 1, stderr: /^ringledger: The event log lacks the event .*`ringledger events adopt`/m })
  await r.withParts(async ({ pool }) =>
    t.equal((await generationsOf(pool, assistants)).length, 1, 'and no generation is made of it'))

  await r.withParts(({ pool, streams }) => adoptLog(pool, streams))
  const adopted = await r.start(['api'])
  t.equal((await adopted.get('/user/assistants')).status, 503, 'until the read models are filled anew')
  await r.start(['projector'])
  await eventually(async () => (await adopted.ready()).status === 200)
  t.equal((await adopted.updateAssistant(assistant, { assistant_name: 'on' })).headers.get('x-read-model'), null)
})
