// Subscriptions: history, then caught up once, then live; each event once and in order; filters and checkpoints.
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import t, { type Test } from 'tap'
import {
  type AllStreamSubscription, END, eventTypeFilter, excludeSystemEvents, jsonEvent, type Position, START, StreamDeletedError, streamNameFilter, type StreamSubscription
} from '@eventstore/db-client'
import { collect, scratchEventStore } from '../src/testing/scratch-event-store.js'

const { client, store } = await scratchEventStore(t)
const event = (type = 'Happened') => jsonEvent({ type, data: {} })
const events = (count: number, type?: string) => Array.from({ length: count }, () => event(type))

type Entry = string
interface Watched { log: Entry[], until (done: (log: Entry[]) => boolean): Promise<Entry[]> }

/** Notes what a subscription emits, in order. */
function watch (t: Test, subscription: AllStreamSubscription | StreamSubscription, only?: string): Watched {
  const log: Entry[] = []
  let wake = () => {}
  const note = (entry: Entry) => { log.push(entry); wake() }
  subscription.on('confirmation', () => { note('confirmed') })
  subscription.on('caughtUp', () => { note('caught up') })
  subscription.on('error', (error: Error) => { note(error.constructor.name) })
  subscription.on('data', ({ event }) => { if (only === undefined || event?.streamId === only) note(`${event?.revision}`) })
  t.teardown(() => subscription.unsubscribe())
  return {
    log,
    async until (done) {
      while (!done(log)) await new Promise<void>((resolve) => { wake = resolve })
      return log
    }
  }
}

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

t.test('across the change from history to live nothing is missed and nothing comes twice', async (t) => {
  const stream = randomUUID()
  const total = 2000
  const writing = (async () => { for (let n = 0; n < total; n += 20) await client.appendToStream(stream, events(20)) })()
  const watched = []
  for (let n = 0; n < 5; n++) {
    watched.push(watch(t, client.subscribeToStream(stream)), watch(t, client.subscribeToAll(), stream))
    await client.appendToStream(randomUUID(), event())
  }
  await writing
  const expected = Array.from({ length: total }, (_, index) => `${index}`)
  for (const { until } of watched) {
    const log = await until((log) => log.includes(`${total - 1}`))
    t.same(log.filter((entry) => /^\d/.test(entry)), expected)
    t.equal(log.filter((entry) => entry === 'caught up').length, 1)
  }
})

t.test('a subscriber that stood still gets everything, in order, when it goes on', async (t) => {
  const stream = randomUUID()
  const subscription = client.subscribeToStream(stream)
  await once(subscription, 'confirmation')
  subscription.pause()
  for (let n = 0; n < 10; n++) await client.appendToStream(stream, events(1000)) // more than memory keeps for those who lag
  const { until } = watch(t, subscription)
  subscription.resume()
  const log = await until((log) => log.includes('9999'))
  t.same(log.filter((entry) => /^\d/.test(entry)).map(Number), Array.from({ length: 10_000 }, (_, index) => index))
})

t.test('a tombstone reaches those who follow the stream, and is the end', async (t) => {
  const stream = randomUUID()
  await client.appendToStream(stream, event())
  const live = watch(t, client.subscribeToStream(stream))
  await live.until((log) => log.includes('caught up'))
  await client.tombstoneStream(stream)
  t.same(await live.until((log) => log.includes('StreamDeletedError')), ['confirmed', '0', 'caught up', '9223372036854775807', 'StreamDeletedError'])
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
  await client.appendToStream(links, { ...jsonEvent({ type: '$>', data: {} }), contentType: 'application/octet-stream', data: Buffer.from(`0@${target}`) })
  t.match(await next, [{ event: { type: 'Target' }, link: { streamId: links } }])
})

t.test('filters let through by stream or type, by prefix or by expression, also what comes live', async (t) => {
  const tag = randomUUID().slice(0, 8)
  const write = async () => {
    await client.appendToStream(`${tag}-apple`, [event(`${tag}.Red`), event(`${tag}.Green`)])
    await client.appendToStream(`x-${tag}-pear`, [event(`${tag}.Yellow`)])
  }
  await write()
  const filters = [
    { filter: streamNameFilter({ prefixes: [`${tag}-`, 'nothing'] }), expected: ['Red', 'Green'] },
    { filter: streamNameFilter({ regex: `${tag}-p` }), expected: ['Yellow'] },
    { filter: eventTypeFilter({ prefixes: [`${tag}.G`, `${tag}.Y`] }), expected: ['Green', 'Yellow'] },
    { filter: eventTypeFilter({ regex: `^${tag}.*e[dn]$` }), expected: ['Red', 'Green'] }
  ]
  const running = filters.map(({ filter, expected }) => {
    const subscription = client.subscribeToAll({ fromPosition: START, filter })
    t.teardown(() => subscription.unsubscribe())
    const types: string[] = []
    const complete = new Promise<void>((resolve) => subscription.on('data', ({ event }) => { if (types.push(event?.type.split('.')[1] ?? '') === 2 * expected.length) resolve() }))
    return { types, complete, expected, caughtUp: once(subscription, 'caughtUp') }
  })
  await Promise.all(running.map(({ caughtUp }) => caughtUp))
  await write()
  for (const { types, complete, expected } of running) {
    await complete
    t.same(types, [...expected, ...expected])
  }
})

t.test('system events can be kept out', async (t) => {
  await client.setStreamMetadata(randomUUID(), { maxCount: 1 })
  const subscription = client.subscribeToAll({ filter: excludeSystemEvents() })
  t.teardown(() => subscription.unsubscribe())
  const types: string[] = []
  subscription.on('data', ({ event }) => types.push(event?.type ?? ''))
  await once(subscription, 'caughtUp')
  t.ok(types.length > 0)
  t.same(types.filter((type) => type.startsWith('$')), [])
})

t.test('an expression that is none is refused', async (t) => {
  const subscription = client.subscribeToAll({ filter: eventTypeFilter({ regex: '(' }) })
  const [error] = await once(subscription, 'error') as [Error & { code: number }]
  t.match(error, { code: 3 })
})

t.test('checkpoints come after every so many considered events and when caught up, grow, and resume exactly', async (t) => {
  const tag = randomUUID().slice(0, 8)
  for (let n = 0; n < 20; n++) await client.appendToStream(`${tag}-${n % 2}`, events(10, n % 5 === 0 ? `${tag}Wanted` : 'Other'))
  const all = await collect(client.readAll())
  const wanted = all.flatMap(({ event }) => event?.type === `${tag}Wanted` ? [event.id] : [])
  const order: Array<string | Position> = []
  const checkpointReached = async (_: unknown, position: Position) => { order.push(position) }
  const subscription = client.subscribeToAll({ fromPosition: START, filter: eventTypeFilter({ prefixes: [tag], maxSearchWindow: 8, checkpointInterval: 2, checkpointReached }) })
  t.teardown(() => subscription.unsubscribe())
  subscription.on('data', ({ event }) => order.push(event?.id ?? ''))
  await once(subscription, 'caughtUp')

  const checkpoints = order.flatMap((entry) => typeof entry === 'string' ? [] : [entry.commit])
  t.equal(checkpoints.length, Math.ceil(all.length / 16))
  t.same(checkpoints, [...new Set(checkpoints)].sort((a, b) => Number(a - b)))
  t.equal(checkpoints.at(-1), all.at(-1)?.commitPosition)
  t.same(order.filter((entry) => typeof entry === 'string'), wanted)

  const middle = order.findIndex((entry, index) => typeof entry !== 'string' && index > order.length / 2)
  const fromPosition = order[middle] as Position
  const resumed: string[] = []
  const second = client.subscribeToAll({ fromPosition, filter: eventTypeFilter({ prefixes: [tag] }) })
  t.teardown(() => second.unsubscribe())
  second.on('data', ({ event }) => resumed.push(event?.id ?? ''))
  await once(second, 'caughtUp')
  t.same(resumed, order.slice(middle).filter((entry) => typeof entry === 'string'))
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
