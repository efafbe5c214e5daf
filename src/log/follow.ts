// Follows the log until a signal ends it, and notices a subscription that no longer delivers.
import { FORWARDS, START, type AllStreamResolvedEvent } from '@eventstore/db-client'
import type { StoredEvent } from '../domain/stored-event.js'
import { nextBeat } from '../timing/beat.js'
import { deliver } from './reads/collect.js'
import { sizeOf } from './size.js'
import type { EventStoreConnection } from './connection/connection.js'
import { subscriptionError } from './errors.js'
import { toStoredEvent } from './stored.js'
import type { Batch, IsUnhurried } from './reads/batch.js'
import { CatchUp } from './subscribe.js'

export interface FollowOptions {
  /** Exclusive: the first event is the one after this position; 0 starts at the beginning. */
  after: bigint
  eventTypes: readonly string[]
  isUnhurried?: IsUnhurried | undefined
  /** Ends the iteration. */
  signal: AbortSignal
  /** As for a subscription. */
  lingerMs?: number
  /** As they are in the log, with what they say of persons sealed: who does not need that does not look up keys. */
  asStored?: boolean
  /** For who follows the log for long: at its end it may do so with others of the process. */
  mayShare?: boolean
}

export interface WatchedLog {
  /** One read for all who ask while it is under way. */
  head (): Promise<bigint>
  /** Called, and taken away, when somebody waits for the log to be followed to its end. */
  awaited: Set<() => void>
}

const shortestPatienceMs = 250
/** Between two looks while the log stands still and nobody waits for it. Lag monitors bear a few seconds. */
const idleMs = 2_000
const longestPatienceMs = 10_000
const readAtOnce = 1_000
const answerWithinMs = 5_000

/**
 * Batches in log order, for ever. The events that arrive while the caller works are the next batch.
 *
 * When nothing comes although the log has moved on, the subscription is reopened. That replaces a dead subscription. It
 * also makes filtered-out events count at once: the store reports them only every so many events, but always at the end
 * of a catch-up. A store before 24.10.5 does not report them while its filter has matched nothing. So when the reopened
 * subscription delivers nothing either, the log is read on without a filter.
 * @throws when the subscription fails or ends
 */
export async function * followLog (
  connection: EventStoreConnection, log: WatchedLog, { after, eventTypes, isUnhurried, signal, lingerMs }: FollowOptions
): AsyncGenerator<Batch, void> {
  let position = after
  let patienceMs = shortestPatienceMs
  let silences = 0
  while (!signal.aborted) {
    const feed = new CatchUp(connection, { after: position, eventTypes, isUnhurried, lingerMs })
    const close = () => { feed.close().catch(() => {}) }
    signal.addEventListener('abort', close, { once: true })
    try {
      const following = () => next(feed, position, patienceMs, log)
      for (let batch = await following(); batch; batch = await following()) {
        yield batch
        position = batch.position
        // Where only others' events come, nobody needs the position at once who does not say so.
        patienceMs = batch.events.length > 0 ? shortestPatienceMs : idleMs
        silences = 0
      }
      // One that is opened anew delivers soon, unless it is far behind.
      patienceMs = silences === 0 ? 2 * shortestPatienceMs : Math.min(patienceMs * 2, longestPatienceMs)
      silences += 1
    } catch (error) {
      if (!signal.aborted) throw subscriptionError(error)
    } finally {
      signal.removeEventListener('abort', close)
      await feed.close()
    }
    if (silences < 2 || signal.aborted) continue
    const { batch, isEnd } = await readOn(connection, eventTypes, position)
    if (batch.position > position) yield batch
    position = batch.position
    // Far behind the head, a subscription that is only slow gets more time.
    if (isEnd) patienceMs = shortestPatienceMs
  }
}

/**
 * The next batch; nothing when none came within about `patienceMs` although the log has moved on. All followers of a
 * process ask for the head at one time, so that one read answers them; the longer the log stands still, the less often,
 * until somebody waits for it.
 */
async function next (
  feed: CatchUp, position: bigint, patienceMs: number, { head, awaited }: WatchedLog
): Promise<Batch | undefined> {
  const arriving = feed.next()
  arriving.catch(() => {}) // awaited below, or left behind when the feed is closed
  for (let everyMs = patienceMs; ; everyMs = Math.max(patienceMs, Math.min(2 * everyMs, idleMs))) {
    const beat = nextBeat(everyMs)
    awaited.add(beat.cancel)
    const batch = await Promise.race([arriving, beat.struck]).finally(() => {
      beat.cancel()
      awaited.delete(beat.cancel)
    })
    if (batch) return batch
    if (await head() <= position) continue
    if (feed.flush()) return await arriving
    // It may have come meanwhile.
    return await Promise.race([arriving, Promise.resolve(undefined)])
  }
}

/** About the memory of what is kept of a read, in bytes. */
const mostKept = 16 * 2 ** 20

/**
 * Reads the next events without a filter: those of the types, and the position of the last event of any type. Of the
 * others nothing is kept, as they may be large.
 */
async function readOn (
  connection: EventStoreConnection, eventTypes: readonly string[], after: bigint
): Promise<{ batch: Batch, isEnd: boolean }> {
  const fromPosition = after === 0n ? START : { commit: after, prepare: after }
  return await connection.onLeader(async (session) => {
    const options = { direction: FORWARDS, fromPosition, maxCount: readAtOnce, requiresLeader: true } as const
    const events: StoredEvent[] = []
    const enough = new Error('the batch is full')
    let [position, count, bytes] = [after, 0, 0]
    const take = ({ event }: AllStreamResolvedEvent) => {
      count += 1
      if (!event || event.position.commit <= after) return
      position = event.position.commit
      if (!eventTypes.includes(event.type)) return
      events.push(toStoredEvent(event))
      bytes += sizeOf(event.data)
      if (bytes >= mostKept) throw enough
    }
    await deliver(session, session.client.readAll(options), answerWithinMs, take)
      .catch((error: unknown) => { if (error !== enough) throw error })
    return { batch: { events, position }, isEnd: count < readAtOnce && bytes < mostKept }
  })
}
