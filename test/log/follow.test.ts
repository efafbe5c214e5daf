// Following the log: exactly what comes after a position, whatever happens to the subscription; events of other types
// move the position and nothing else.
import { randomUUID } from 'node:crypto'
import t from 'tap'
import { noStream, EventLog } from '../../src/log/event-log.js'
import { CatchUp } from '../../src/log/follow.js'
import { nextEvents, take, until } from './following.js'
import { connectionTo, scratchEventStore } from '../support/back-ends/scratch-event-store.js'
import { eventStoreCluster } from '../support/cluster/cluster.js'
import { tcpProxy } from '../support/back-ends/tcp-proxy.js'
import { fc } from '../support/fuzz/property.js'

const { store, connection } = await scratchEventStore(t)
const direct = new EventLog(connection)
const never = new AbortController().signal
const append = (...types: string[]) =>
  direct.append(
    `test-${randomUUID()}`, types.map((type) => ({ id: randomUUID(), type, data: {}, metadata: {} })), noStream
  )

t.test('up to a position it brings few large batches, and ends exactly there', async (t) => {
  const type = `Type${Date.now()}`
  const after = await direct.head()
  for (let n = 0; n < 30; n++) await append(type, 'Other')
  const all = (await take(direct, [type], after, 30)).positions
  for (const until of [all[19] ?? 0n, await direct.head(), after]) {
    const [found, sizes]: [bigint[], number[]] = [[], []]
    let reached = after
    for await (const { events, position } of direct.follow({ after, until, eventTypes: [type], signal: never })) {
      found.push(...events.map((event) => event.position))
      sizes.push(events.length)
      reached = position
    }
    t.strictSame({ found, reached }, { found: all.filter((position) => position <= until), reached: until })
    t.ok(sizes.length <= 3, `batches of ${sizes.join(', ')}`)
  }
})

t.test('it resumes exactly, wherever it was stopped', async () => {
  const type = `Type${Date.now()}`
  for (let index = 0; index < 40; index += 1) await append(...[type, 'Other', type].slice(0, 1 + index % 3))
  const all = (await take(direct, [type], 0n, 53)).positions
  await fc.assert(fc.asyncProperty(fc.integer({ min: 0, max: all.length - 1 }), async (index) => {
    const rest = all.slice(index)
    const { positions } = await take(direct, [type], index === 0 ? 0n : all[index - 1] ?? 0n, rest.length)
    return positions.join() === rest.join()
  }), { numRuns: 8 })
})

t.test('large events come in small batches, and all of them', async (t) => {
  const type = `Type${Date.now()}`
  const [after, text, count] = [await direct.head(), 'x'.repeat(900_000), 20]
  for (let n = 0; n < count; n++) {
    await direct.append(
    `test-${randomUUID()}`, [{ id: randomUUID(), type, data: { n, text }, metadata: {} }], noStream
    )
  }
  const feed = new CatchUp(connection, { after, eventTypes: [type], lingerMs: 500 })
  t.teardown(() => feed.close())
  const [came, sizes]: [unknown[], number[]] = [[], []]
  while (came.length < count) {
    const { events } = await feed.next()
    came.push(...events.map(({ data }) => (data as { n: number }).n))
    sizes.push(events.length)
  }
  t.strictSame(came, [...Array(count).keys()])
  t.ok(sizes.every((size) => size * text.length <= 16 * 2 ** 20), `batches of ${sizes.join(', ')}`)
})

t.test('an event comes also while others ask again and again for all of the log', async (t) => {
  const type = `Type${Date.now()}`
  const asked = new EventLog(connection)
  const signal = until(t).signal
  const batches = asked.follow({ after: await direct.head(), eventTypes: [type], signal })
  for (let n = 0; n < 20; n++) {
    const pulled = nextEvents(batches)
    const { position } = await append(type)
    const looking = setInterval(() => asked.lookNow?.(), 1)
    t.equal((await pulled.finally(() => clearInterval(looking))).position, position)
  }
})

t.test('an abort ends it, also while it waits', async (t) => {
  const stopping = until(t)
  const batches = direct.follow({ after: await direct.head(), eventTypes: ['NeverAppended'], signal: stopping.signal })
  const waiting = batches.next()
  stopping.abort()
  t.match(await waiting, { done: true })
})

t.test('a lost connection is an error, so that the caller starts again from its last position', async (t) => {
  const proxy = await tcpProxy(t, store.port)
  const streams = new EventLog(connectionTo(t, `esdb://127.0.0.1:${proxy.port}?tls=false`))
  const type = `Type${Date.now()}`
  await append(type)
  const batches = streams.follow({ after: 0n, eventTypes: [type], signal: until(t).signal })
  const { value } = await batches.next()
  t.equal(value?.events.length, 1)
  const waiting = batches.next()
  proxy.cut()
  await t.rejects(waiting)
  const { position } = await append(type)
  t.strictSame((await take(streams, [type], value?.position ?? 0n, 1)).positions, [position])
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
