// What an erasure has to know of a stream before it appends to it.
import { tryDecode, type EventType } from '../../domain/events.js'
import { isUuid } from '../../domain/json.js'
import { isErasing } from '../../features/persons/model.js'
import { typeInLog } from '../../domain/sealed.js'
import type { StoredEvent } from '../../domain/stored-event.js'
import type { Streams } from '../../log/event-log.js'

/** What is known of a stream, without what it says of the person. */
export interface Seen {
  revision: bigint
  position: bigint
  commandIds: Set<string>
  /** Whether it says of everything in it that it is erased. */
  isClean: boolean
  /** Leads that it says of that they are erased. */
  erased: Set<number>
  /** Leads that it tells of, those that were erased too, with their contacts. */
  leads: Map<number, number[]>
  /** Of its first event of an erasure with nothing personal after it. */
  erasedAt: bigint | undefined
}

/** Of a long stream nothing is kept but what erasures have left. */
export async function look (streams: Pick<Streams, 'visit'>, stream: string): Promise<Seen | undefined> {
  let seen: Seen | undefined
  const isOfLead = stream.startsWith('lead-')
  await streams.visit(stream, 0n, (stored) => {
    const { revision, position, metadata: { command_id: commandId = '' } } = stored
    seen ??= {
      revision, position, commandIds: new Set(), isClean: true, erased: new Set(), leads: new Map(), erasedAt: undefined
    }
    seen.revision = revision
    seen.position = position
    if (isUuid(commandId)) seen.commandIds.add(commandId)
    if (isErasing(stored)) seen.erasedAt ??= revision
    if (isOfLead) return seeLead(seen, stored)
    if (isImpersonal(stored)) return
    seen.isClean = false
    seen.erasedAt = undefined // it was said once more
  })
  return seen
}

/** What is sealed may stay before what says that it is erased: nobody can read it once the key is gone. */
function seeLead (seen: Seen, stored: StoredEvent): void {
  if (ofLeads.has(typeInLog(stored))) seen.isClean = false
  const { event } = tryDecode(stored)
  if (event?.type === 'LeadCreated') see(seen, event.data.lead_id, event.data.secondary_contacts.map(({ id }) => id))
  if (event?.type !== 'LeadErased' || !event.data.with_lead) return
  see(seen, event.data.lead_id, event.data.contact_ids)
  if (typeInLog(stored) !== 'LeadErased') return // it stands for one that nobody can read
  seen.erased.add(event.data.lead_id)
  seen.isClean = true
}

const ofLeads: ReadonlySet<string> =
  new Set(['LeadCreated', 'LeadUpdated', 'LeadStatusChanged', 'LeadDeleted'] satisfies EventType[])

/** Also a lead whose events readers could not take. */
function see ({ leads }: Seen, lead: number, contacts: number[]): void {
  leads.set(lead, [...new Set([...leads.get(lead) ?? [], ...contacts])])
}

/** An entry that was erased is deleted without its number. */
function isImpersonal (stored: StoredEvent): boolean {
  const { type, data } = stored
  if (isErasing(stored)) return true
  if (type !== 'PhoneNumberUnblacklisted' || typeof data !== 'object' || data === null) return false
  return Reflect.get(data, 'phone_number') == null && Reflect.get(data, 'sealed') == null
}
