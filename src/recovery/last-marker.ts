// Finds the newest marker in the log. Anybody can append to its stream, so what cannot be read there is passed over.
import { tryDecode } from '../domain/events.js'
import { believedId } from '../domain/json.js'
import { forEachKind, type IdKind } from '../domain/id-kinds.js'
import { markerStream, type DispatcherCheckpointed } from '../domain/marker.js'
import type { StoredEvent } from '../domain/stored-event.js'
import { noStream, type Streams } from '../log/event-log.js'

/** A marker at its position in this log. */
export interface Marker {
  id: string
  revision: bigint
  position: bigint
  data: DispatcherCheckpointed
  /** By kind: no higher id was given out. */
  ids: Record<IdKind, number>
}

export interface LastMarker {
  /** The newest one that can be read, if there is one. */
  last: Marker | undefined
  /** Of the newest event in the stream, whatever it is; `noStream` where there is none. */
  streamRevision: bigint
  /** What is wrong with the newest event, when it is no marker that can be read. */
  unreadable: string | undefined
}

/** What the search needs of a log. */
export type MarkedLog = Pick<Streams, 'last' | 'read' | 'visit'>

/** Up to where a log was searched, and what was found. */
interface Searched { newest: { id: string, revision: bigint }, last: Marker | undefined }

/** A stream that is full of something else costs each process one search, not one at each block of ids. */
const searchedIn = new WeakMap<MarkedLog, Searched>()

/** @throws EventStoreUnavailable */
export async function findLastMarker (streams: MarkedLog): Promise<LastMarker> {
  const newest = await streams.last(markerStream)
  if (!newest) return { last: undefined, streamRevision: noStream, unreadable: undefined }
  const { id, revision: streamRevision } = newest
  const last = markerIn(newest)
  if (last) return { last, streamRevision, unreadable: undefined }
  const known = await stillThere(streams, searchedIn.get(streams))
  const found = await searchBackwards(streams, streamRevision, known)
  searchedIn.set(streams, { newest: { id, revision: streamRevision }, last: found })
  return { last: found, streamRevision, unreadable: whyUnreadable(newest) }
}

/** What was found in a log that went back since, or in another one, counts no more. */
async function stillThere (streams: MarkedLog, searched: Searched | undefined): Promise<Searched | undefined> {
  if (!searched) return undefined
  const { newest: { id, revision }, last } = searched
  const known = [{ id, revision }, ...last ? [last] : []]
  const found = await Promise.all(known.map(({ revision }) => streams.read(markerStream, revision, 1)))
  return found.every(([event], index) => event?.id === known[index]?.id) ? searched : undefined
}

/** In steps that grow: one foreign event costs little, very many do not cost a request each. */
const firstStep = 20n
const longestStep = 20_000n

/** Event by event, as those of strangers may be large. */
async function searchBackwards (
  streams: MarkedLog, before: bigint, known: Searched | undefined
): Promise<Marker | undefined> {
  const begin = known ? known.newest.revision + 1n : 0n
  let step = firstStep
  for (let end = before; end > begin;) {
    const from = end - begin > step ? end - step : begin
    let found: Marker | undefined
    await streams.visit(markerStream, from, (stored) => {
      if (stored.revision < end) found = markerIn(stored) ?? found
    }, Number(end - from))
    if (found) return found
    end = from
    step = step * 10n > longestStep ? longestStep : step * 10n
  }
  return known?.last
}

function markerIn (stored: StoredEvent): Marker | undefined {
  const { event } = tryDecode(stored)
  if (event?.type !== 'DispatcherCheckpointed') return undefined
  const { data } = event
  const ids = forEachKind((kind) => believedId(data[`${kind}_ids`] ?? 0))
  return { id: stored.id, revision: stored.revision, position: stored.position, data, ids }
}

function whyUnreadable (stored: StoredEvent): string {
  const { stream, revision, type } = stored
  return tryDecode(stored).problem ?? `${type} at ${stream}@${revision} is no marker`
}
