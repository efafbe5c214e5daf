// Whatever happens to the subscription that is shared, each follower gets every event of its types once, in order.
import t from 'tap'
import type { StoredEvent } from '../../../src/domain/stored-event.js'
import { EventLog, type Streams } from '../../../src/log/event-log.js'
import { connectionTo, scratchEventStore } from '../../support/back-ends/scratch-event-store.js'
import { tcpProxy } from '../../support/back-ends/tcp-proxy.js'
import { eventually } from '../../support/eventually.js'
import { fc } from '../../support/fuzz/property.js'
import { countingFollowers, happen, shareTail } from './followers.js'

const { store, connection } = await scratchEventStore(t)
const direct = new EventLog(connection)
const types = ['A', 'B', 'C', 'D']

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
    }), { numRuns: 8 })
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
