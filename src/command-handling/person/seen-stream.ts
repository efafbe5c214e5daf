// What an erasure has to know of a stream before it appends to it.
import { tryDecode } from '../../domain/events.js'
import { isErasing } from '../../domain/person/erasing.js'
import type { StoredEvent } from '../../domain/stored-event.js'
import type { Streams } from '../../event-store/streams.js'

/** What is known of a stream, without what it says of the person. */
export interface Seen {
  revision: bigint
  position: bigint
  /** Whether anything is left to be hidden. */
  isClean: boolean
  /** Leads that it tells of, those that were erased too, with their contacts. */
  leads: Map<number, number[]>
  /** Of its first event of an erasure. */
  erasedAt: bigint | undefined
}

/** Of a long stream nothing is kept but what erasures have left. */
export async function look (streams: Pick<Streams, 'visit'>, stream: string): Promise<Seen | undefined> {
  let seen: Seen | undefined
  await streams.visit(stream, 0n, (stored) => {
    const { revision, position } = stored
    const { isClean = true, leads = new Map<number, number[]>(), erasedAt } = seen ?? {}
    for (const [id, contacts] of leadsIn(stored)) leads.set(id, [...new Set([...leads.get(id) ?? [], ...contacts])])
    const isOfErasure = isErasing(stored)
    seen = {
      revision,
      position,
      isClean: isClean && isImpersonal(stored),
      leads,
      erasedAt: erasedAt ?? (isOfErasure ? revision : undefined)
    }
  })
  return seen
}

/** An entry that was erased is deleted without its number. */
function isImpersonal ({ type, data }: StoredEvent): boolean {
  if (isErasing({ type })) return true
  if (type !== 'PhoneNumberUnblacklisted' || typeof data !== 'object' || data === null) return false
  return Reflect.get(data, 'phone_number') == null && Reflect.get(data, 'sealed') == null
}

/** Also of leads whose events readers could not take. */
function leadsIn (stored: StoredEvent): Array<[number, number[]]> {
  const { event } = tryDecode(stored)
  switch (event?.type) {
    case 'LeadCreated': return [[event.data.lead_id, event.data.secondary_contacts.map(({ id }) => id)]]
    case 'LeadErased': return event.data.with_lead ? [[event.data.lead_id, event.data.contact_ids]] : []
    default: return []
  }
}
