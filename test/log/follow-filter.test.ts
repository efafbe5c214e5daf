// Following the log by types: events of other types move the position and nothing else.
import { randomUUID } from 'node:crypto'
import t from 'tap'
import { noStream, EventLog } from '../../src/log/event-log.js'
import { eventStoreCluster } from '../support/cluster/cluster.js'
import { take, until } from './following.js'
import { connectionTo, scratchEventStore } from '../support/back-ends/scratch-event-store.js'

const { store, connection } = await scratchEventStore(t)
const direct = new EventLog(connection)
const append = (...types: string[]) =>
  direct.append(
    `test-${randomUUID()}`, types.map((type) => ({ id: randomUUID(), type, data: {}, metadata: {} })), noStream
  )

t.test('a type that starts like another is another', async (t) => {
  await append('CallCompletedTwice', 'NotCallCompleted')
  const { position } = await append('CallCompleted')
  t.strictSame((await take(direct, ['CallCompleted', 'Else'], 0n, 1)).positions, [position])
})

t.test('events that the filter leaves out move the position of an idle log, also one by one', async (t) => {
  const signal = until(t).signal
  const batches =
    direct.follow({ after: await direct.head(), eventTypes: ['NeverAppended'], signal })[Symbol.asyncIterator]()
  for (let round = 0; round < 3; round += 1) {
    const { position } = await append('Other')
    for (;;) {
      const { value } = await batches.next()
      t.strictSame(value?.events, [])
      if ((value?.position ?? 0n) >= position) break
    }
  }
  t.pass('each of them was passed')
})

t.test('in a flood of events outside the filter the position grows, and no event that matches is missed', async (t) => {
  const signal = until(t).signal
  const type = `Type${Date.now()}`
  const start = await direct.head()
  let isOver = false
  const flooding = Promise.all(Array.from({ length: 2 }, async () => {
    while (!isOver) {
      await append(...Array<string>(20).fill('Other'))
    }
  }))
  let passed = start
  let found = 0
  for await (const { events, position } of direct.follow({ after: start, eventTypes: [type], signal })) {
    t.ok(position > passed)
    passed = position
    found += events.length
    if (found === 10) break
    if (events.length > 0 || found === 0) await append(type)
  }
  isOver = true
  await flooding
  t.equal(found, 10)
})

t.test('a store that tells no more than where it began until its filter matches is followed; matches have their place', async (t) => {
  const { members: [old], url } = await eventStoreCluster(t, store, { size: 1 })
  const streams = new EventLog(connectionTo(t, url))
  const signal = until(t).signal
  const type = `Type${Date.now()}`
  const batches = streams.follow({ after: await direct.head(), eventTypes: [type], signal })[Symbol.asyncIterator]()
  const pass = async (position: bigint) => {
    const events = []
    for (;;) {
      const { value } = await batches.next()
      events.push(...value?.events ?? [])
      if ((value?.position ?? 0n) >= position) return { events, passed: value?.position }
    }
  }
  for (let round = 0; round < 3; round += 1) {
    const { position } = await append('Other', 'Other')
    t.strictSame(await pass(position), { events: [], passed: position }) // else it would be called dead
  }
  t.ok(old.saidNothing > 0)
  const { position } = await append('Other', type)
  t.match(await pass(position), { events: [{ type, position }], passed: position })
})
