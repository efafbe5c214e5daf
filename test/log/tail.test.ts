// Followers of the end of the log share one subscription, and none is held up or failed by another. Whatever happens
// to it, each follower gets every event of its types once, in order.
import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import type { StoredEvent } from '../../src/domain/stored-event.js'
import type { Batch } from '../../src/log/follow.js'
import { EventLog, noStream, type Streams } from '../../src/log/event-log.js'
import { SharedTail } from '../../src/log/tail.js'
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

/** Streams whose followers share one subscription, as those of a log do, and how many subscriptions that takes. */
function shared (through: Streams = direct, maxBytes?: number) {
  const counted = countingFollowers(through)
  const tail = new SharedTail(counted, { eventTypes: types, ...(maxBytes !== undefined && { maxBytes }) })
  const streams: Streams = {
    ...counted,
    follow: (following) => tail.takes(following) ? tail.follow(following) : counted.follow(following),
    lookNow () {
      tail.lookNow()
      counted.lookNow()
    }
  }
  return { counted, streams }
}

interface FollowerOptions {
  eventTypes: string[]
  deferredTypes?: string[]
  slowMs?: number
  after: bigint
  /** After every error it goes on from its last position, as consumers do. */
  goesOn?: boolean
}

/** Follows until the test ends. */
function follower (
  t: Teardown, streams: Streams, { eventTypes, deferredTypes = [], slowMs = 0, after, goesOn = false }: FollowerOptions
) {
  const [stopping, events, batches] = [new AbortController(), [] as StoredEvent[], [] as Batch[]]
  let [turn, position] = [new AbortController(), after]
  const ended = run()
  ended.catch(() => {})
  const stop = async () => {
    stopping.abort()
    await ended
  }
  t.teardown(() => stop().catch(() => {}))
  return {
    eventTypes,
    after,
    events,
    batches,
    ended,
    stop,
    types: () => events.map(({ type }) => type).join(''),
    reached: () => position,
    restart: () => turn.abort()
  }

  async function run (): Promise<void> {
    do {
      turn = new AbortController()
      const following = follow(AbortSignal.any([stopping.signal, turn.signal]))
      await (goesOn ? following.catch(() => delay(20)) : following)
    } while (goesOn && !stopping.signal.aborted)
  }

  async function follow (signal: AbortSignal): Promise<void> {
    const isDeferred = ({ type }: { type: string }) => deferredTypes.includes(type)
    for await (const batch of streams.follow({ after: position, eventTypes, isDeferred, signal, mayShare: true })) {
      batches.push(batch)
      events.push(...batch.events)
      position = batch.position
      if (slowMs > 0) await delay(slowMs)
    }
  }
}

/** Appends events of these types to a stream of their own. @returns the position of the last one */
async function happen (types: readonly string[]): Promise<bigint> {
  const events = types.map((type) => ({ id: randomUUID(), type, data: {}, metadata: {} }))
  return (await direct.append(`test-${randomUUID()}`, events, noStream)).position
}

t.test('those at the end have one subscription, and each gets its types in log order', async (t) => {
  const { counted, streams } = shared()
  const after = await direct.head()
  const followers = [['A'], ['A', 'B'], ['C'], types].map((eventTypes) => follower(t, streams, { eventTypes, after }))
  const last = await happen(['A', 'B', 'Other', 'C', 'A', 'D'])
  await eventually(() => followers.map(({ types }) => types()).join() === 'AA,ABA,C,ABCAD')
  t.equal(counted.opened(), 1)
  streams.lookNow?.()
  await eventually(() => followers.every(({ reached }) => reached() >= last))
  for (const each of followers) await each.stop()
  await eventually(() => counted.open() === 0)
})

t.test('events of others are passed at once when somebody waits, and in a while else', async (t) => {
  const { streams } = shared()
  const each = follower(t, streams, { eventTypes: ['A'], after: await direct.head() })
  await happen(['A'])
  await eventually(() => each.types() === 'A')
  const other = follower(t, streams, { eventTypes: ['B'], after: each.reached() })
  const position = await happen(['B'])
  await eventually(() => other.types() === 'B')
  streams.lookNow?.()
  await eventually(() => each.reached() >= position)
  const later = await happen(['B', 'Other'])
  await eventually(() => each.reached() >= later && other.reached() >= later)
  t.equal(each.types(), 'A')
})

t.test('a deferred event comes with one that is not, or a moment later', async (t) => {
  const { streams } = shared()
  const each = follower(t, streams, { eventTypes: ['A', 'B'], deferredTypes: ['A'], after: await direct.head() })
  await happen(['A', 'A', 'B'])
  await eventually(() => each.types() === 'AAB')
  t.equal(each.batches.length, 1)
  await happen(['A'])
  await eventually(() => each.types() === 'AABA')
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
  await happen(['A'])
  await eventually(() => well.types() === 'A' && bad.types() === 'A')
  await happen(['C'])
  await t.rejects(bad.ended, { message: 'cannot be opened' })
  await happen(['A'])
  await eventually(() => well.types() === 'AA')
  await eventually(() => counted.open() === 1)
})

t.test('a follower that takes other types, or does not say that it may share, has a subscription of its own', async (t) => {
  const { counted, streams } = shared()
  const after = await direct.head()
  follower(t, streams, { eventTypes: ['A'], after })
  follower(t, streams, { eventTypes: ['Other'], after })
  const alone = streams.follow({ after, eventTypes: ['A'], signal: AbortSignal.timeout(10_000) })
  const next = alone.next()
  await happen(['A'])
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
      const { counted, streams } = shared(new EventLog(cut), 5_000)
      const before: bigint[] = [await direct.head()]
      for (let n = 0; n < 30; n++) before.push(await happen(types))
      const all = given.map(({ behind, ...options }) =>
        follower(t, streams, { ...options, after: before[30 - behind] ?? 0n, goesOn: true }))
      for (const each of steps) {
        if (each === 'cut') proxy.cut()
        else if (each === 'restart') all[0]?.restart()
        else await happen(each)
      }
      const last = await happen(types)
      const wanted = await logOf(before[0] ?? 0n, last)
      const isComplete = ({ eventTypes, after, events }: ReturnType<typeof follower>) => {
        const due = wanted.filter(({ type, position }) => eventTypes.includes(type) && position > after)
        return events.map(({ id }) => id).join() === due.map(({ id }) => id).join()
      }
      await eventually(() => all.every(isComplete))
      await Promise.all(all.map(({ stop }) => stop()))
      await eventually(() => counted.open() === 0)
      await cut.close()
    }), { numRuns: 5 })
})

async function logOf (after: bigint, until: bigint): Promise<StoredEvent[]> {
  const all: StoredEvent[] = []
  const signal = AbortSignal.timeout(20_000)
  for await (const { events } of direct.follow({ after, until, eventTypes: types, signal })) all.push(...events)
  return all
}
