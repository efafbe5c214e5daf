// Following a log that stands still costs little, and a reader that waits for it is not kept waiting.
import { randomUUID } from 'node:crypto'
import t from 'tap'
import { noStream, EventLog } from '../../src/log/event-log.js'
import { until } from './following.js'
import { scratchEventStore } from '../support/back-ends/scratch-event-store.js'
import { eventually } from '../support/eventually.js'

const { connection } = await scratchEventStore(t)

/** How often the service has asked anything of the leader, as it does for the end of the log. */
let looks = 0
const onLeader = connection.onLeader.bind(connection)
connection.onLeader = async (work) => {
  looks += 1
  return await onLeader(work)
}

const streams = new EventLog(connection)

t.test('who follows a log that stands still looks at it ever more seldom', async (t) => {
  void streams.follow({ after: await streams.head(), eventTypes: ['Never'], signal: until(t).signal }).next()
  looks = 0
  const from = performance.now()
  await eventually(() => looks >= 4)
  t.ok(performance.now() - from > 3_000, `four looks in ${performance.now() - from} ms`)
})

t.test('when somebody waits, an event that no filter lets through is passed at once', async (t) => {
  const batches = streams.follow({ after: await streams.head(), eventTypes: ['Never'], signal: until(t).signal })
  const next = batches.next()
  let passed = -1n
  void next.then(({ value }) => { passed = value?.position ?? -1n })
  looks = 0
  await eventually(() => looks >= 4) // the pauses are long by now
  const event = { id: randomUUID(), type: 'Other', data: {}, metadata: {} }
  const { position } = await streams.append(`test-${randomUUID()}`, [event], noStream)
  const from = performance.now()
  streams.lookNow?.()
  await eventually(() => passed >= position)
  t.ok(performance.now() - from < 900, `after ${performance.now() - from} ms`)
})
