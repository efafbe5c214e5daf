// Reads a stream of events of any size in parts that fit into memory.
import type { StoredEvent } from '../../domain/stored-event.js'
import { sizeOf } from '../size.js'
import type { Streams } from '../streams.js'

/** The bytes of a part. Its last event may go beyond them, by the megabyte that an event has at most. */
const mostBytes = 4 * 2 ** 20
const mostEvents = 100

export interface Range { from: bigint, to: bigint }

/** The events of a stream between two revisions, in order; a part is never empty. @throws EventStoreUnavailable */
export async function * readParts (
  streams: Pick<Streams, 'visit'>, stream: string, { from, to }: Range
): AsyncGenerator<StoredEvent[]> {
  for (let next = from; next <= to;) {
    const wanted = to - next + 1n
    const { events } = await readPart(streams, stream, next, wanted < mostEvents ? Number(wanted) : mostEvents)
    const last = events.at(-1)
    if (!last) return
    yield events
    next = last.revision + 1n
  }
}

/** Ends a read. */
class Full extends Error {}

/** `isFull`: the part has all its bytes, and the stream may have more. `isThere` is what `visit` answers. */
export interface ReadPart { events: StoredEvent[], isThere: boolean, isFull: boolean }

/** The events of a stream from a revision on, as many as fit into a part. @throws EventStoreUnavailable */
export async function readPart (
  streams: Pick<Streams, 'visit'>, stream: string, from: bigint, most: number
): Promise<ReadPart> {
  const events: StoredEvent[] = []
  let bytes = 0
  const take = (event: StoredEvent) => {
    events.push(event)
    bytes += sizeOf(event.data)
    if (bytes >= mostBytes) throw new Full()
  }
  try {
    return { events, isThere: await streams.visit(stream, from, take, most), isFull: false }
  } catch (error) {
    if (!(error instanceof Full)) throw error
    return { events, isThere: true, isFull: true }
  }
}
