// A subscription emits events, checkpoints and errors in their order.
import {
  type AllStreamSubscription, type StreamSubscription, binaryEvent, END, jsonEvent, START, StreamDeletedError,
  eventTypeFilter, type Position, streamNameFilter
} from '@eventstore/db-client'
import t, { type Test } from 'tap'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { eventually } from '@ringledger/embedded-postgres/testing'
import { scratchEventStore, collect } from './support/scratch-event-store.js'

/** Notes revisions, of all streams or of `only` one, `confirmed`, `caught up` and names of errors. */
function watch (t: Test, subscription: AllStreamSubscription | StreamSubscription, only?: string) {
  const log: string[] = []
  let wake = () => {}
  const note = (entry: string) => {
    log.push(entry)
    wake()
  }
  subscription.on('confirmation', () => { note('confirmed') })
  subscription.on('caughtUp', () => { note('caught up') })
  subscription.on('error', (error: Error) => { note(error.constructor.name) })
  subscription.on('data', ({ event }) => {
    if (only === undefined || event?.streamId === only) note(`${event?.revision}`)
  })
  t.teardown(() => subscription.unsubscribe())
  return {
    /** Resolves to the notes, once they are enough. */
    async until (isEnough: (log: string[]) => boolean) {
      while (!isEnough(log)) await new Promise<void>((resolve) => { wake = resolve })
      return log
    }
  }
}

const { client } = await scratchEventStore(t)
const event = (type = 'Happened') => jsonEvent({ type, data: {} })
const events = (count: number, type?: string) => Array.from({ length: count }, () => event(type))

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

t.test('$all is followed from after a position or its end; 0 is before the first event, and 2^64 - 1 the end', async (t) => {
  const stream = randomUUID()
  const { position = { commit: 0n, prepare: 0n } } = await client.appendToStream(stream, event())
  await client.appendToStream(stream, events(2))
  const end = 2n ** 64n - 1n
  const [all, live] = [['confirmed', '0', '1', '2', 'caught up', '3'], ['confirmed', 'caught up', '3']]
  const places = [
    [position, ['confirmed', '1', '2', 'caught up', '3']], [START, all], [END, live],
    [{ commit: 0n, prepare: 0n }, all], [{ commit: end, prepare: end }, live]
  ] as const
  const watched = places.map(([fromPosition]) => watch(t, client.subscribeToAll({ fromPosition }), stream))
  for (const { until } of watched) await until((log) => log.includes('caught up'))
  await client.appendToStream(stream, event())
  for (const [n, { until }] of watched.entries()) t.same(await until((log) => log.includes('3')), places[n]?.[1])
})

t.test('across the change from history to live nothing is missed and nothing comes twice', async (t) => {
  const stream = randomUUID()
  const total = 300
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
    subscription.on('data', ({ event }) => { types.push(event?.type.split('.')[1] ?? '') })
    return { types, expected, caughtUp: once(subscription, 'caughtUp') }
  })
  await Promise.all(running.map(({ caughtUp }) => caughtUp))
  await write()
  for (const { types, expected } of running) {
    await eventually(() => types.length === 2 * expected.length)
    t.same(types, [...expected, ...expected])
  }
})

t.test('an expression that RE2 cannot say, or that is too large, is refused in words', async (t) => {
  const refused = {
    'no regular expression of RE2': ['(', 'a(?=b)'],
    'too long or repeats too much: use prefixes': ['x'.repeat(4_097), '(\\w{10}){100}'.repeat(10)]
  }
  for (const [message, expressions] of Object.entries(refused)) {
    for (const regex of expressions) {
      const subscription = client.subscribeToAll({ filter: eventTypeFilter({ regex }) })
      const [error] = await once(subscription, 'error')
      t.match(error, { code: 3, message }, regex.slice(0, 20))
    }
  }
})

t.test('a hostile expression does not stop the store', { timeout: 20_000 }, async (t) => {
  const stream = 'a'.repeat(1_999)
  await client.appendToStream(stream, event())
  const hostile = ['(a+)+!', '(\\pL*a\\pL{3}){200}', '\\pL'.repeat(1_365)]
  for (const regex of hostile) {
    const subscription = client.subscribeToAll({ filter: streamNameFilter({ regex }) })
    subscription.on('error', () => {})
    const ended = Promise.race([once(subscription, 'caughtUp'), once(subscription, 'close')])
    await t.resolves(client.appendToStream(randomUUID(), event()), regex.slice(0, 20))
    await ended
    await subscription.unsubscribe()
  }
})

t.test('checkpoints come after every so many considered events and when caught up, grow, and resume exactly', async (t) => {
  const tag = randomUUID().slice(0, 8)
  for (let n = 0; n < 20; n++) {
    await client.appendToStream(`${tag}-${n % 2}`, events(10, n % 5 === 0 ? `${tag}Wanted` : 'Other'))
  }
  const all = await collect(client.readAll())
  const wanted = all.flatMap(({ event }) => event?.type === `${tag}Wanted` ? [event.id] : [])
  const order: Array<string | Position> = []
  const checkpointReached = async (_: unknown, position: Position) => { order.push(position) }
  const every16 = { maxSearchWindow: 8, checkpointInterval: 2, checkpointReached }
  const filter = eventTypeFilter({ prefixes: [tag], ...every16 })
  const subscription = client.subscribeToAll({ fromPosition: START, filter })
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
