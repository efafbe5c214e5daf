// Several who follow the log in one process, and how many subscriptions that takes.
import { randomUUID } from 'node:crypto'
import type { StoredEvent } from '../../../src/domain/stored-event.js'
import type { Batch, IsDeferred } from '../../../src/log/follow.js'
import { noStream, type Streams } from '../../../src/log/event-log.js'
import { SharedTail, type ShareOptions } from '../../../src/log/tail.js'
import type { Teardown } from '../../support/teardown.js'

/** The same streams; `open()` is the number of subscriptions that there are, `opened()` how many there have been. */
export function countingFollowers (streams: Streams): Streams & { open (): number, opened (): number } {
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
export const types = ['A', 'B', 'C', 'D']

/** The same streams, as the log has them whose followers share. */
export function shareTail (streams: Streams, options: ShareOptions): Streams {
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
export function sharing (through: Streams, maxBytes?: number) {
  const counted = countingFollowers(through)
  return { counted, streams: shareTail(counted, { eventTypes: types, ...maxBytes && { maxBytes } }) }
}

export const typesOf = ({ events }: Follower) => events.map(({ type }) => type).join('')

export interface Follower {
  events: StoredEvent[]
  /** Of the batches, from the first on. */
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
export function follower (
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
export async function happen (
  streams: Pick<Streams, 'append'>, types: readonly string[], data: object = {}
): Promise<bigint> {
  const events = types.map((type) => ({ id: randomUUID(), type, data, metadata: {} }))
  return (await streams.append(`test-${randomUUID()}`, events, noStream)).position
}
