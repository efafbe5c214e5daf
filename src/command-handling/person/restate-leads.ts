// Takes what is plain out of a stream of leads that stay: each that is left is told of again, sealed, and what was
// before is hidden. Every step may be repeated.
import type { LeadErasedEvent } from '../../domain/lead/erasing/erased.js'
import type { LeadRestatedEvent } from '../../domain/lead/erasing/restated.js'
import { sizeOf } from '../../event-store/size.js'
import { appendErasing, type ErasingOptions } from './append-erasing.js'
import { inParts } from './named-calls.js'
import { look, type Restated, type Seen } from './seen-stream.js'

/** A lead or a contact as readers have it, and the calls that name it with their positions. */
export interface KnownLead {
  data: Omit<LeadRestatedEvent['data'], 'calls' | 'restated_at'>
  calls: Array<{ call_id: string, position: bigint }>
}

/** Everybody on a stream of leads but those who are to be erased. */
export interface KnownStream {
  staying: KnownLead[]
  /** Contacts that were erased before: what told so is hidden too. */
  erased: LeadErasedEvent[]
}

/** An append takes a megabyte; what is sealed is a third longer. */
const mostBytes = 500_000

/**
 * @param knownAt what readers have of the stream, once they have passed the position
 * @throws Error where they do not have a lead that the stream tells of: nothing would stand for it
 */
export async function restateLeads (
  options: ErasingOptions, stream: string, knownAt: (position: bigint) => Promise<KnownStream>
): Promise<void> {
  for (;;) {
    const seen = await look(options.streams, stream)
    if (!seen?.isPlain) return
    const known = await knownAt(seen.position)
    refuseUnknown(seen, known, stream)
    if (known.staying.length === 0) return // they went with their lead, whose own erasure hides what is plain
    const events = untold(seen, known, options.now)
    if (events.length === 0 && seen.restatedAt !== undefined) {
      return await options.streams.truncate(stream, seen.restatedAt)
    }
    await appendErasing(options, stream, seen, firstOf(events)) // and look again, also when another process was first
  }
}

function refuseUnknown ({ leads }: Seen, { staying, erased }: KnownStream, stream: string): void {
  const known = new Set([...staying, ...erased].map(({ data }) => data.lead_id))
  for (const id of leads.keys()) {
    if (!known.has(id)) throw new Error(`readers do not know lead ${id} of ${stream}: reproject it`)
  }
}

/** Whatever the stream does not say yet behind what is to be hidden. */
function untold ({ restated, toldSince }: Seen, { staying, erased }: KnownStream, now: string) {
  return [
    ...staying.flatMap((known) => restatedOf(known, restated.get(known.data.contact_id ?? known.data.lead_id), now)),
    ...erased.filter(({ data: { contact_ids } }) => contact_ids.some((id) => !toldSince.has(id)))
  ]
}

/** Calls that came after the first time are found by it. */
function restatedOf ({ data, calls }: KnownLead, told: Restated | undefined, now: string): LeadRestatedEvent[] {
  const ids = calls.filter(({ call_id, position }) => !told || (position < told.position && !told.calls.has(call_id)))
  if (told && ids.length === 0 && isSame(told.data, data)) return []
  return inParts(ids.map(({ call_id }) => call_id)).map((calls) =>
    ({ type: 'LeadRestated', data: { ...data, calls, restated_at: now } }))
}

function isSame (told: LeadRestatedEvent['data'], data: KnownLead['data']): boolean {
  const { calls: _calls, restated_at: _at, ...state } = told
  const inOrder = (object: object) =>
    JSON.stringify(Object.entries(object).sort(([one], [other]) => one < other ? -1 : 1))
  return inOrder(state) === inOrder(data)
}

function firstOf<Event extends object> (events: Event[]): Event[] {
  let bytes = 0
  const end = events.findIndex((event) => (bytes += sizeOf(event)) > mostBytes)
  return end === -1 ? events : events.slice(0, Math.max(1, end))
}
