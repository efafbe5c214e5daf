// Following the log, as tests of it do.
import type { Batch } from '../../src/log/follow.js'
import type { Streams } from '../../src/log/event-log.js'
import type { Teardown } from '../support/teardown.js'

/** Aborted when the test ends. */
export function until (t: Teardown): AbortController {
  const stopping = new AbortController()
  t.teardown(() => stopping.abort())
  return stopping
}

/** The positions of events of these types after `after`, until `enough` of them came. */
export async function take (
  streams: Streams, eventTypes: string[], after: bigint, enough: number
): Promise<{ positions: bigint[], reached: bigint }> {
  const stopping = new AbortController()
  const positions: bigint[] = []
  let reached = after
  for await (const { events, position } of streams.follow({ after, eventTypes, signal: stopping.signal })) {
    positions.push(...events.map((event) => event.position))
    reached = position
    if (positions.length >= enough) stopping.abort()
  }
  return { positions, reached }
}

/** The next batch with events: others only say how far the log is. */
export async function nextEvents (followed: AsyncIterator<Batch, void>): Promise<Batch> {
  for (;;) {
    const { value } = await followed.next()
    if (!value) throw new Error('following has ended')
    if (value.events.length > 0) return value
  }
}
