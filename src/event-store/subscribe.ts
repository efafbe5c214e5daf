// One serial, resumable catch-up subscription to $all, pulled batch by batch.
import { setImmediate, setTimeout } from 'node:timers/promises'
import { START, eventTypeFilter, type AllStreamResolvedEvent, type EventStoreDBClient } from '@eventstore/db-client'
import type { StoredEvent } from '../domain/stored-event.js'
import { toStoredEvent } from './stored.js'

/** What arrived since the last pull: events in log order, and the position that is reached with them. */
export interface Batch {
  events: StoredEvent[]
  position: bigint
}

export interface CatchUp {
  /**
   * Resolves with at least one event, or with none and a position that passed filtered-out events.
   * Whatever arrives while the caller works is the next batch.
   * @throws when the subscription fails or ends, also cleanly: open a new one from the last position
   */
  next (): Promise<Batch>
  close (): Promise<void>
}

export interface CatchUpOptions {
  /** Exclusive: the first event is the one after this position; 0 starts at the beginning. */
  after: bigint
  eventTypes: readonly string[]
  /** Most events in one batch; the subscription is paused while twice as many wait. */
  maxBatch?: number
  /** How long a batch that is not full waits for more, in milliseconds: for work that wants large batches more than early ones. */
  lingerMs?: number | undefined
}

// Servers before 24.10.5 report 2^64-1 as the checkpoint of a filter that has matched nothing yet.
const nowhere = 2n ** 64n - 1n

export function catchUp (client: EventStoreDBClient, { after, eventTypes, maxBatch = 500, lingerMs }: CatchUpOptions): CatchUp {
  const waiting: StoredEvent[] = []
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
          if (waiting.length < maxBatch) await (lingerMs === undefined ? setImmediate() : setTimeout(lingerMs)) // whatever has arrived already comes along: fewer, larger batches
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
    waiting.push(toStoredEvent(event))
    if (waiting.length >= 2 * maxBatch) subscription.pause()
    wake()
  }

  function takeBatch (): Batch {
    const events = waiting.splice(0, maxBatch)
    position = events[events.length - 1]?.position ?? position
    if (subscription.isPaused() && waiting.length < maxBatch) subscription.resume()
    return { events, position }
  }
}
