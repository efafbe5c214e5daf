// Followers of the end of the log share one subscription, and none is held up or failed by another. Whatever happens
// to it, each follower gets every event of its types once, in order.
import { randomUUID } from 'node:crypto'
import t from 'tap'
import type { StoredEvent } from '../../src/domain/stored-event.js'
import type { Batch, IsDeferred } from '../../src/log/follow.js'
import { EventLog, noStream, type Streams } from '../../src/log/event-log.js'
import { SharedTail, type ShareOptions } from '../../src/log/tail.js'
import { connectionTo, scratchEventStore } from '../support/back-ends/scratch-event-store.js'
import { tcpProxy } from '../support/back-ends/tcp-proxy.js'
import { eventually } from '../support/eventually.js'
import { fc } from '../support/fuzz/property.js'
import type { Teardown } from '../support/teardown.js'

const { store, connection } = await scratchEventStore(t)
const direct = new EventLog(connection)

/** The same streams; `open()` is the number of subscriptions that there are, `opened()` how many there have been. */
function countingFollowers (streams: Streams): Streams & { open (): number, opened (): number } {
  let [open, opened] = [0, 0]
  return {
    ...streams,
    open: () => open,
    opened: () => opened,
    async * follow (options) {
      open += 1
      opened += 1
      try {
        yield * streams.follow(options)
      } finally {
        open -= 1
      }
    }
  }
}

/** Those that followers may share. */
const types = ['A', 'B', 'C', 'D']

/** The same streams, as the log has them whose followers share. */
function shareTail (streams: Streams, options: ShareOptions): Streams {
  const shared = new SharedTail(streams, options)
  return {
    ...streams,
    follow: (following) => shared.takes(following) ? shared.follow(following) : streams.follow(following),
    lookNow () {
      shared.lookNow()
      streams.lookNow()
    }
  }
}

/** Streams whose followers share one subscription, and how many subscriptions that takes. */
function shared (through: Streams = direct) {
  const counted = countingFollowers(through)
  return { counted, streams: shareTail(counted, { eventTypes: types }) }
}

const typesOf = ({ events }: Follower) => events.map(({ type }) => type).join('')

interface Follower {
  events: StoredEvent[]
  /** The positions of the batches, from the first on. */
  positions: bigint[]
  reached (): bigint
  stop (): Promise<void>
  ended: Promise<void>
}

interface FollowerOptions {
  eventTypes: string[]
  isDeferred?: IsDeferred
  after: bigint
  /** The follower takes the next batch when this has resolved. */
  work? (batch: Batch): Promise<unknown>
}

/** Follows until the test ends, as consumers do. */
function follower (
  t: Teardown, streams: Streams, { work = async () => {}, after, ...options }: FollowerOptions
): Follower {
  const stopping = new AbortController()
  const events: StoredEvent[] = []
  const positions: bigint[] = []
  const ended = run()
  ended.catch(() => {})
  const stop = async () => {
    stopping.abort()
    await ended
  }
  t.teardown(() => stop().catch(() => {}))
  return {
    events,
    positions,
    ended,
    reached: () => positions.at(-1) ?? after,
    stop
  }

  async function run (): Promise<void> {
    for await (const batch of streams.follow({ after, ...options, signal: stopping.signal, mayShare: true })) {
      events.push(...batch.events)
      positions.push(batch.position)
      await work(batch)
    }
  }
}

/** Appends events of these types to a stream of their own. @returns the position of the last one */
async function happen (
  streams: Pick<Streams, 'append'>, types: readonly string[], data: object = {}
): Promise<bigint> {
  const events = types.map((type) => ({ id: randomUUID(), type, data, metadata: {} }))
  return (await streams.append(`test-${randomUUID()}`, events, noStream)).position
}

t.test('those at the end have one subscription, and each gets its types in log order', async (t) => {
  const { counted, streams } = shared()
  const after = await direct.head()
  const followers = [['A'], ['A', 'B'], ['C'], types].map((eventTypes) => follower(t, streams, { eventTypes, after }))
  const last = await happen(direct, ['A', 'B', 'Other', 'C', 'A', 'D'])
  await eventually(() => followers.map(typesOf).join() === 'AA,ABA,C,ABCAD')
  t.equal(counted.opened(), 1)
  streams.lookNow?.()
  await eventually(() => followers.every(({ reached }) => reached() >= last))
  for (const each of followers) await each.stop()
  await eventually(() => counted.open() === 0)
})

t.test('events of others are passed at once when somebody waits, and in a while else', async (t) => {
  const { streams } = shared()
  const each = follower(t, streams, { eventTypes: ['A'], after: await direct.head() })
  await happen(direct, ['A'])
  await eventually(() => typesOf(each) === 'A')
  const other = follower(t, streams, { eventTypes: ['B'], after: each.reached() })
  const position = await happen(direct, ['B'])
  await eventually(() => typesOf(other) === 'B')
  streams.lookNow?.()
  await eventually(() => each.reached() >= position)
  const later = await happen(direct, ['B', 'Other'])
  await eventually(() => each.reached() >= later && other.reached() >= later)
  t.equal(typesOf(each), 'A')
})

t.test('a deferred event comes with one that is not, or a moment later', async (t) => {
  const { streams } = shared()
  const each = follower(t, streams, { eventTypes: ['A', 'B'], isDeferred: ({ type }) => type === 'A', after: await direct.head() })
  await happen(direct, ['A', 'A', 'B'])
  await eventually(() => typesOf(each) === 'AAB')
  t.equal(each.positions.length, 1)
  await happen(direct, ['A'])
  await eventually(() => typesOf(each) === 'AABA')
})

t.test('an event that cannot be opened fails those who take it, and no other', async (t) => {
  const broken: Streams = {
    ...direct,
    async * follow (options) {
      for await (const batch of direct.follow(options)) {
        if (batch.events.some(({ type }) => type === 'C')) throw new Error('cannot be opened')
        yield batch
      }
    }
  }
  const { counted, streams } = shared(broken)
  const after = await direct.head()
  const well = follower(t, streams, { eventTypes: ['A'], after })
  const bad = follower(t, streams, { eventTypes: ['A', 'C'], after })
  await happen(direct, ['A'])
  await eventually(() => typesOf(well) === 'A' && typesOf(bad) === 'A')
  await happen(direct, ['C'])
  await t.rejects(bad.ended, { message: 'cannot be opened' })
  await happen(direct, ['A'])
  await eventually(() => typesOf(well) === 'AA')
  await eventually(() => counted.open() === 1)
})

t.test('a follower that takes other types, or does not say that it may share, has a subscription of its own', async (t) => {
  const { counted, streams } = shared()
  const after = await direct.head()
  follower(t, streams, { eventTypes: ['A'], after })
  follower(t, streams, { eventTypes: ['Other'], after })
  const alone = streams.follow({ after, eventTypes: ['A'], signal: AbortSignal.timeout(10_000) })
  const next = alone.next()
  await happen(direct, ['A'])
  t.match((await next).value, { events: [{ type: 'A' }] })
  await eventually(() => counted.open() === 3) // the other two open beside it
  await alone.return()
})

const someTypes = fc.subarray(types, { minLength: 1 })
const someone = fc.record({
  eventTypes: someTypes,
  deferredTypes: fc.subarray(types),
  slowMs: fc.nat(20),
  behind: fc.nat(30)
})
const step = fc.oneof(
  { weight: 12, arbitrary: fc.array(fc.constantFrom(...types, 'Other'), { minLength: 1, maxLength: 6 }) },
  { weight: 1, arbitrary: fc.constantFrom('cut', 'restart') }
)

t.test('followers of any types and pace miss nothing, also when the connection is cut and they begin anew', async (t) => {
  const proxy = await tcpProxy(t, store.port)
  await fc.assert(fc.asyncProperty(
    fc.array(someone, { minLength: 2, maxLength: 4 }), fc.array(step, { minLength: 5, maxLength: 30 }),
    async (given, steps) => {
      const cut = connectionTo(t, `esdb://127.0.0.1:${proxy.port}?tls=false`)
      const counted = countingFollowers(new EventLog(cut))
      const streams = shareTail(counted, { eventTypes: types, maxBytes: 5_000 })
      const before: bigint[] = [await direct.head()]
      for (let n = 0; n < 30; n++) before.push(await happen(direct, types))
      const all = given.map(({ behind, ...options }) =>
        consumer(streams, { ...options, after: before[30 - behind] ?? 0n }))
      for (const each of steps) {
        if (each === 'cut') proxy.cut()
        else if (each === 'restart') all[0]?.restart()
        else await happen(direct, each)
      }
      const last = await happen(direct, types)
      const wanted = await logOf(before[0] ?? 0n, last)
      const due = ({ takes, after }: Consumer) =>
        wanted.filter(({ type, position }) => takes(type) && position > after).map(({ position }) => position)
      await eventually(() => all.every((each) => each.events.join() === due(each).join()))
      await Promise.all(all.map(({ stop }) => stop()))
      await eventually(() => counted.open() === 0)
      await cut.close()
    }), { numRuns: 5 })
})

async function logOf (after: bigint, last: bigint): Promise<StoredEvent[]> {
  const all: StoredEvent[] = []
  const signal = AbortSignal.timeout(20_000)
  for await (const { events, position } of direct.follow({ after, eventTypes: types, signal })) {
    all.push(...events)
    if (position >= last) break
  }
  return all
}

interface Consumer {
  /** The positions of what was handled. */
  events: bigint[]
  after: bigint
  takes (type: string): boolean
  restart (): void
  stop (): Promise<void>
}

interface ConsumerOptions { eventTypes: string[], deferredTypes: string[], slowMs: number, after: bigint }

/** As `runSubscription` does: it goes on from its last position after every error. */
function consumer (streams: Streams, { eventTypes, deferredTypes, slowMs, after }: ConsumerOptions): Consumer {
  const [stopping, events] = [new AbortController(), [] as bigint[]]
  let turn = new AbortController()
  let position = after
  const ended = run()
  return {
    events,
    after,
    takes: (type: string) => eventTypes.includes(type),
    restart: () => turn.abort(),
    async stop () {
      stopping.abort()
      await ended
    }
  }

  async function run (): Promise<void> {
    while (!stopping.signal.aborted) {
      turn = new AbortController()
      await follow(AbortSignal.any([stopping.signal, turn.signal])).catch(() => pause(20))
    }
  }

  async function follow (signal: AbortSignal): Promise<void> {
    const isDeferred = ({ type }: { type: string }) => deferredTypes.includes(type)
    for await (const batch of streams.follow({ after: position, eventTypes, isDeferred, signal, mayShare: true })) {
      events.push(...batch.events.map((event) => event.position))
      position = batch.position
      await pause(slowMs)
    }
  }
}

const pause = (ms: number) => new Promise((resolve) => { setTimeout(resolve, ms) })
