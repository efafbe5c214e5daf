// A log that has lost its end, on real back ends: nothing starts until an operator has said that it is lost for good.
import t from 'tap'
import { adoptLog } from '../../src/recovery/mend.js'
import { eventually } from '../support/eventually.js'
import { callOf, receiver } from '../support/receivers/receiver.js'
import { created, idOf, readsGoOn, restorable } from '../support/restorable.js'
import { run } from '../support/ringledger.js'

t.test('a log that is older than what was read of it is a refusal to start, until it is adopted', async (t) => {
  const r = await restorable(t)
  const hook = await receiver(t)
  const first = await r.start()
  const assistant = idOf(await eventually(async () => created(await first.createAssistant(hook.url))))
  await first.completeCall('kept', assistant)
  await eventually(() => hook.received.length === 1)
  await first.stop()
  await r.backUpLog()

  const second = await r.start()
  const lost = idOf(await eventually(async () => created(await second.createAssistant(hook.url))))
  await second.completeCall('lost', lost)
  await eventually(() => hook.received.length === 2)
  const adopt = () => r.withParts(({ pool, streams }) => adoptLog(pool, streams))
  await second.stop()
  await r.restoreLog()

  await t.rejects(r.start(['api']), { name: 'OtherLog' })
  t.match(await run(t, ['worker'], { ...r.env, PORT: '0' }), {
    code: 1,
    stderr: /"msg":"The event log lacks marker \d.* older than this database, or another log.*Check EVENTSTORE_URL.*`ringledger events adopt`/
  })
  t.match(await adopt(), { problem: undefined })
  const adopted = await r.start()
  await readsGoOn(t, adopted, assistant)
  const next = idOf(await eventually(async () => created(await adopted.createAssistant(hook.url))))
  t.ok(next > lost, 'the ids of what was lost are not given out again')
  for (const id of [assistant, next]) await adopted.completeCall(`of-${id}`, id)
  await eventually(() => hook.received.length >= 4)
  t.same(hook.received.map(callOf).sort(), ['kept', 'lost', `of-${assistant}`, `of-${next}`].sort())
})
