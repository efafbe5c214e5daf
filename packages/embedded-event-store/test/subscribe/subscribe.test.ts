// Subscriptions: history, then caught up once, then live; each event once and in order.
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { binaryEvent, END, jsonEvent, type ResolvedEvent, START, StreamDeletedError } from '@eventstore/db-client'
import { eventually } from '@ringledger/embedded-postgres/testing'
import t from 'tap'
import { scratchEventStore } from '../support/scratch-event-store.js'
import { watch } from '../support/watch.js'

const { client, store } = await scratchEventStore(t)
const event = (type = 'Happened') => jsonEvent({ type, data: {} })
const events = (count: number) => Array.from({ length: count }, () => event())

t.test('a stream is followed from a revision: what comes after it, caught up once, then live', async (t) => {
  const stream = randomUUID()
  await client.appendToStream(stream, events(3))
  const fromStart = watch(t, client.subscribeToStream(stream, { fromRevision: START }))
  const afterFirst = watch(t, client.subscribeToStream(stream, { fromRevision: 0n }))
  const fromEnd = watch(t, client.subscribeToStream(stream, { fromRevision: END }))
  for (const { until } of [fromStart, afterFirst, fromEnd]) await until((log) => log.includes('caught up'))
  await client.appendToStream(randomUUID(), event())
  await client.appendToStream(stream, events(2))
  t.same(await fromStart.until((log) => log.includes('4')), ['confirmed', '0', '1', '2', 'caught up', '3', '4'])
  t.same(await afterFirst.until((log) => log.includes('4')), ['confirmed', '1', '2', 'caught up', '3', '4'])
  t.same(await fromEnd.until((log) => log.includes('4')), ['confirmed', 'caught up', '3', '4'])
})

t.test('a stream that does not exist yet is waited for', async (t) => {
  const stream = randomUUID()
  const { until } = watch(t, client.subscribeToStream(stream))
  await until((log) => log.includes('caught up'))
  await client.appendToStream(stream, event())
  t.same(await until((log) => log.includes('0')), ['confirmed', 'caught up', '0'])
})

t.test('$all is followed from after a position, or from its end', async (t) => {
  const stream = randomUUID()
  const { position } = await client.appendToStream(stream, event())
  if (position === undefined) throw new Error('An append has a position')
  await client.appendToStream(stream, events(2))
  const after = watch(t, client.subscribeToAll({ fromPosition: position }), stream)
  const fromEnd = watch(t, client.subscribeToAll({ fromPosition: END }), stream)
  const fromStart = watch(t, client.subscribeToAll({ fromPosition: START }), stream)
  for (const { until } of [after, fromEnd, fromStart]) await until((log) => log.includes('caught up'))
  await client.appendToStream(stream, event())
  t.same(await after.until((log) => log.includes('3')), ['confirmed', '1', '2', 'caught up', '3'])
  t.same(await fromEnd.until((log) => log.includes('3')), ['confirmed', 'caught up', '3'])
  t.same(await fromStart.until((log) => log.includes('3')), ['confirmed', '0', '1', '2', 'caught up', '3'])
})

t.test('a position of 0 is before the first event, and 2^64 - 1 is the end', async (t) => {
  const stream = randomUUID()
  await client.appendToStream(stream, event('Before'))
  const end = 2n ** 64n - 1n
  const subscriptions = [
    client.subscribeToAll({ fromPosition: { commit: 0n, prepare: 0n } }),
    client.subscribeToAll({ fromPosition: { commit: end, prepare: end } }),
    client.subscribeToStream(stream, { fromRevision: end })
  ]
  const seen = subscriptions.map((subscription) => {
    t.teardown(() => subscription.unsubscribe())
    const seen: string[] = []
    subscription.on('data', ({ event }: ResolvedEvent) => {
      if (event?.streamId === stream || event?.type === '$LogCreated') seen.push(event.type)
    })
    return seen
  })
  await Promise.all(subscriptions.map((subscription) => once(subscription, 'caughtUp')))
  await client.appendToStream(stream, event('After'))
  await eventually(() => seen.every((types) => types.includes('After')))
  t.same(seen, [['$LogCreated', 'Before', 'After'], ['After'], ['After']])
})

t.test('across the change from history to live nothing is missed and nothing comes twice', async (t) => {
  const stream = randomUUID()
  const total = 1000
  const writing = (async () => {
    for (let n = 0; n < total; n += 20) await client.appendToStream(stream, events(20))
  })()
  const watched = []
  for (let n = 0; n < 5; n++) {
    watched.push(watch(t, client.subscribeToStream(stream)), watch(t, client.subscribeToAll(), stream))
    await client.appendToStream(randomUUID(), event())
  }
  await writing
  const expected = Array.from({ length: total }, (_, index) => `${index}`)
  for (const { until } of watched) {
    const log = await until((log) => log.length === total + 2) // confirmed and caught up
    t.same(log.filter((entry) => /^\d/.test(entry)), expected)
    t.equal(log.filter((entry) => entry === 'caught up').length, 1)
  }
})

t.test('a subscriber that stood still gets everything, in order, when it goes on', async (t) => {
  const stream = randomUUID()
  const subscription = client.subscribeToStream(stream)
  await once(subscription, 'confirmation')
  subscription.pause()
  const large = () => Array.from({ length: 5 }, () => binaryEvent({ type: 'Large', data: new Uint8Array(200_000) }))
  // Memory keeps half of them for subscribers that lag.
  for (let n = 0; n < 16; n++) await client.appendToStream(stream, large())
  const { until } = watch(t, subscription)
  subscription.resume()
  const log = await until((log) => log.includes('79'))
  t.same(log.filter((entry) => /^\d/.test(entry)).map(Number), Array.from({ length: 80 }, (_, index) => index))
})

t.test('a tombstone reaches the subscribers of the stream, and is the end', async (t) => {
  const stream = randomUUID()
  await client.appendToStream(stream, event())
  const live = watch(t, client.subscribeToStream(stream))
  await live.until((log) => log.includes('caught up'))
  await client.tombstoneStream(stream)
  const log = await live.until((log) => log.includes('StreamDeletedError'))
  t.same(log, ['confirmed', '0', 'caught up', '9223372036854775807', 'StreamDeletedError'])
  const late = watch(t, client.subscribeToStream(stream))
  t.same(await late.until((log) => log.length > 0), [StreamDeletedError.name], 'an error before any confirmation')
})

t.test('a soft delete does not end a subscription', async (t) => {
  const stream = randomUUID()
  await client.appendToStream(stream, event())
  const { until } = watch(t, client.subscribeToStream(stream))
  await until((log) => log.includes('caught up'))
  await client.deleteStream(stream)
  await client.appendToStream(stream, event())
  t.same(await until((log) => log.includes('1')), ['confirmed', '0', 'caught up', '1'])
})

t.test('links are followed in subscriptions too', async (t) => {
  const [target, links] = [randomUUID(), randomUUID()]
  await client.appendToStream(target, event('Target'))
  const subscription = client.subscribeToStream(links, { resolveLinkTos: true })
  t.teardown(() => subscription.unsubscribe())
  const next = once(subscription, 'data')
  await client.appendToStream(links, binaryEvent({ type: '$>', data: Buffer.from(`0@${target}`) }))
  t.match(await next, [{ event: { type: 'Target' }, link: { streamId: links } }])
})

t.test('a closing server ends subscriptions with an error, not with an end', async (t) => {
  const own = await scratchEventStore(t)
  const subscription = own.client.subscribeToAll()
  await once(subscription, 'caughtUp')
  const failed = once(subscription, 'error')
  await own.store.close()
  t.match(await failed, [{ type: 'cancelled' }])
  t.not(own.store.port, store.port)
})
