// Reads a stream of events of any size in parts that fit into memory.
import type { StoredEvent } from '../../domain/stored-event.js'
import { sizeOf } from '../size.js'
import type { Streams } from '../streams.js'

/** Of the events of a part, the last one of which may go beyond it. An event has a megabyte at most. */
const mostBytes = 4 * 2 ** 20
const mostEvents = 100

export interface Range { from: bigint, to: bigint }

/** The events of a stream between two revisions, in order; a part is never empty. @throws EventStoreUnavailable */
export async function * readParts (
  streams: Pick<Streams, 'visit'>, stream: string, { from, to }: Range
): AsyncGenerator<StoredEvent[]> {
  for (let next = from; next <= to;) {
    const part = await readPart(streams, stream, { from: next, to })
    const last = part.at(-1)
    if (!last) return
    yield part
    next = last.revision + 1n
  }
}

/** Ends a read. */
class Full extends Error {}

async function readPart (
  streams: Pick<Streams, 'visit'>, stream: string, { from, to }: Range
): Promise<StoredEvent[]> {
  const part: StoredEvent[] = []
  let bytes = 0
  const take = (event: StoredEvent) => {
    part.push(event)
    bytes += sizeOf(event.data)
    if (bytes >= mostBytes) throw new Full()
  }
  const wanted = to - from + 1n
  const count = wanted < mostEvents ? Number(wanted) : mostEvents
  try {
    await streams.visit(stream, from, take, count)
  } catch (error) {
    if (!(error instanceof Full)) throw error
  }
  return part
}
