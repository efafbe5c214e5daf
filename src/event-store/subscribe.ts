// One serial, resumable catch-up subscription to $all, pulled batch by batch.
import { setImmediate, setTimeout } from 'node:timers/promises'
import { START, eventTypeFilter, type AllStreamResolvedEvent, type EventStoreDBClient } from '@eventstore/db-client'
import type { StoredEvent } from '../domain/stored-event.js'
import { sizeOf } from './size.js'
import { toStoredEvent } from './stored.js'

/** What arrived since the last pull: events in log order, and the position that is reached with them. */
export interface Batch {
  events: StoredEvent[]
  position: bigint
}

export interface CatchUp {
  /**
   * Resolves with at least one event, or with none and a position that passed filtered-out events.
   * The events that arrive while the caller works are the next batch.
   * @throws when the subscription fails or ends, also cleanly: open a new one from the last position
   */
  next (): Promise<Batch>
  close (): Promise<void>
}

export interface CatchUpOptions {
  /** Exclusive: the first event is the one after this position; 0 starts at the beginning. */
  after: bigint
  eventTypes: readonly string[]
  /** Most events in one batch; the subscription is paused while twice as many wait, or more bytes than a batch has. */
  maxBatch?: number
  /** How long a batch that is not full waits for more, in milliseconds. Without it, batches come early and small. */
  lingerMs?: number | undefined
}

// Servers before 24.10.5 report 2^64-1 as the checkpoint of a filter that has matched nothing yet.
const nowhere = 2n ** 64n - 1n

/** About the memory that the data of one batch takes. A larger event is a batch of its own; most take a quarter. */
const maxBytes = 16 * 2 ** 20

export function catchUp (
  client: EventStoreDBClient, { after, eventTypes, maxBatch = 500, lingerMs }: CatchUpOptions
): CatchUp {
  const waiting: { event: StoredEvent, bytes: number }[] = []
  let waitingBytes = 0
  let position = after
  let passed = after
  let failure: Error | undefined
  let wake = () => {}

  const subscription = client.subscribeToAll({
    fromPosition: after === 0n ? START : { commit: after, prepare: after },
    filter: eventTypeFilter({
      regex: `^(${eventTypes.join('|')})$`,
      checkpointInterval: 10,
      checkpointReached: async (_subscription, checkpoint) => {
        if (checkpoint.commit !== nowhere && checkpoint.commit > passed) passed = checkpoint.commit
        wake()
      }
    })
  })
  const fail = (error: Error) => { failure ??= error; wake() }
  subscription.on('data', take)
  subscription.on('error', fail)
  subscription.on('end', () => fail(new Error('the event store ended the subscription')))
  subscription.on('close', () => fail(new Error('the subscription was closed')))

  return {
    async next () {
      for (;;) {
        if (failure) throw failure
        if (waiting.length > 0) {
          // Events that have arrived already come along: fewer, larger batches.
          if (waiting.length < maxBatch) await (lingerMs === undefined ? setImmediate() : setTimeout(lingerMs))
          return takeBatch()
        }
        // A checkpoint runs ahead of events that are still buffered: it counts only when none is.
        if (passed > position && subscription.readableLength === 0) {
          position = passed
          return { events: [], position }
        }
        await new Promise<void>((resolve) => { wake = resolve })
      }
    },
    async close () {
      fail(new Error('the subscription was closed'))
      subscription.off('data', take).resume() // so that its end can be seen
      await subscription.unsubscribe().catch(() => {})
    }
  }

  function take ({ event }: AllStreamResolvedEvent): void {
    if (!event) return
    const stored = toStoredEvent(event)
    const bytes = sizeOf(stored.data)
    waiting.push({ event: stored, bytes })
    waitingBytes += bytes
    if (waiting.length >= 2 * maxBatch || waitingBytes >= maxBytes) subscription.pause()
    wake()
  }

  function takeBatch (): Batch {
    let [count, bytes] = [0, 0]
    for (const next of waiting) {
      if (count === maxBatch || (count > 0 && bytes + next.bytes > maxBytes)) break
      count += 1
      bytes += next.bytes
    }
    const events = waiting.splice(0, count).map(({ event }) => event)
    waitingBytes -= bytes
    position = events[events.length - 1]?.position ?? position
    if (subscription.isPaused() && waiting.length < maxBatch && waitingBytes < maxBytes) subscription.resume()
    return { events, position }
  }
}
