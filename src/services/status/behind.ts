// How far a subscription is behind the log, in events and in seconds: units that no event store changes.
import type { Streams } from '../../log/event-log.js'

export interface Behind {
  /** Events that it has yet to take, as far as they were counted. */
  events: number
  isExact: boolean
  /** Since when the oldest of them waits. */
  seconds: number
}

/** Counting reads the events: more is not worth knowing. */
const mostCounted = 10_000
const countWithinMs = 1_000

/** `position` is where it stands. */
export async function behindLog (
  streams: Pick<Streams, 'follow'>, { position, head }: { position: bigint, head: bigint }, eventTypes: readonly string[]
): Promise<Behind> {
  if (position >= head) return { events: 0, isExact: true, seconds: 0 }
  const late = AbortSignal.timeout(countWithinMs)
  let events = 0
  let oldest: Date | undefined
  for await (const batch of streams.follow({ after: position, eventTypes, signal: late })) {
    const waiting = batch.events.filter((event) => event.position <= head)
    oldest ??= waiting[0]?.created
    events += waiting.length
    if (batch.position >= head) return { events, isExact: true, seconds: secondsSince(oldest) }
    if (events >= mostCounted) break
  }
  return { events, isExact: false, seconds: secondsSince(oldest) }
}

const secondsSince = (time: Date | undefined) => time ? Math.max(0, (Date.now() - time.getTime()) / 1_000) : 0
