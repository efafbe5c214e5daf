// A log that went back under a running API and has grown since: a command that lands behind what was read shows it.
import t from 'tap'
import { adoptLog } from '../../src/recovery/adopt-log.js'
import { eventually } from '../support/eventually.js'
import { happen } from '../recovery/marked-log.js'
import { created, idOf, restorable } from '../support/restorable.js'

const r = await restorable(t)
const [hook, others] = ['https://example.com/hook', 20]

t.test('it is noticed at once and by every role, and nothing of it counts as read', async (t) => {
  const first = await r.start(['api', 'projector'])
  const assistant = idOf(await eventually(async () => created(await first.createAssistant(hook))))
  await first.stop()
  await r.backUpLog()
  const projector = await r.start(['projector'])
  const api = await r.start(['api'])
  await eventually(async () => created(await api.createAssistant(hook)))
  for (let n = 0; n < others; n++) await api.updateAssistant(assistant, { assistant_name: `Name ${n}` })
  t.equal((await api.updateAssistant(assistant, { assistant_name: 'read' })).headers.get('x-read-model'), null)
  await projector.stop() // who subscribes notices a log that ends too early by itself
  await r.restoreLog()

  const shown = await api.updateAssistant(assistant, { assistant_name: 'behind' })
  t.match([shown.status, shown.headers.get('x-read-model')], [200, 'pending'], 'no read model will show it')
  t.match(await api.ready(), { status: 503, body: { checks: { log: 'failing' } } })
  t.match(api.logged, [/The event log took an event at position \d+ after it had been read up to \d+: it is older/])
  for (const refused of [
    await api.updateAssistant(assistant, { assistant_name: 'lost' }), await api.createAssistant(hook),
    await api.completeCall('lost', assistant),
    await api.get('/user/assistants', { 'x-read-position': String(shown.headers.get('x-read-position')) })
  ]) t.equal(refused.status, 503)
  t.equal((await api.get('/user/assistants')).status, 200, 'reads that compare nothing go on')

  await r.withParts(async ({ streams }) => { for (let n = 0; n < 3 * others; n++) await happen(streams) })
  t.match(await api.ready(), { status: 503 }, 'also once the log is longer than it was')
  await api.stop()
  await t.rejects(r.start(['projector']), { name: 'OtherLog', message: /`ringledger events adopt`/ })

  await r.withParts(({ pool, streams }) => adoptLog(pool, streams))
  const adopted = await r.start(['api', 'projector'])
  await eventually(async () => (await adopted.ready()).status === 200)
  t.match((await adopted.get(`/user/assistant/${assistant}`)).body, { data: { name: 'behind' } })
  t.equal((await adopted.updateAssistant(assistant, { assistant_name: 'on' })).headers.get('x-read-model'), null)
})
