// Finds the newest marker in the log. Anybody can append to its stream, so what cannot be read there is passed over.
import { tryDecode } from '../domain/events.js'
import { believedId } from '../domain/json.js'
import { markerStream, type DispatcherCheckpointed } from '../domain/marker/events.js'
import type { StoredEvent } from '../domain/stored-event.js'
import { noStream, type Streams } from '../event-store/streams.js'

/** A marker at its position in this log. */
export interface Marker {
  id: string
  revision: bigint
  position: bigint
  data: DispatcherCheckpointed
}

export interface LastMarker {
  /** The newest one that can be read, if there is one. */
  last: Marker | undefined
  /** Of the newest event in the stream, whatever it is; `noStream` where there is none. */
  streamRevision: bigint
  /** What is wrong with the newest event, when it is no marker that can be read. */
  unreadable: string | undefined
}

/** Events of strangers may be large. */
const eventsAtOnce = 20

/** @throws EventStoreUnavailable */
export async function findLastMarker (streams: Pick<Streams, 'last' | 'read'>): Promise<LastMarker> {
  const newest = await streams.last(markerStream)
  if (!newest) return { last: undefined, streamRevision: noStream, unreadable: undefined }
  const { revision: streamRevision } = newest
  const last = markerIn(newest)
  if (last) return { last, streamRevision, unreadable: undefined }
  return { last: await searchBackwards(streams, streamRevision), streamRevision, unreadable: whyUnreadable(newest) }
}

async function searchBackwards (streams: Pick<Streams, 'read'>, before: bigint): Promise<Marker | undefined> {
  for (let end = before; end > 0n;) {
    const from = end > BigInt(eventsAtOnce) ? end - BigInt(eventsAtOnce) : 0n
    const events = await streams.read(markerStream, from, Number(end - from))
    const found = events.filter(({ revision }) => revision < end).reverse().map(markerIn).find(Boolean)
    if (found) return found
    end = from
  }
  return undefined
}

function markerIn (stored: StoredEvent): Marker | undefined {
  const { event } = tryDecode(stored)
  if (event?.type !== 'DispatcherCheckpointed') return undefined
  const { assistant_ids, lead_ids } = event.data
  const data = { ...event.data, assistant_ids: believedId(assistant_ids), lead_ids: believedId(lead_ids) }
  return { id: stored.id, revision: stored.revision, position: stored.position, data }
}

function whyUnreadable (stored: StoredEvent): string {
  const { stream, revision, type } = stored
  return tryDecode(stored).problem ?? `${type} at ${stream}@${revision} is no marker`
}
