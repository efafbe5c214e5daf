// What an erasure has to know of a stream before it appends to it.
import { tryDecode } from '../../domain/events.js'
import { isUuid } from '../../domain/json.js'
import { erasedIds } from '../../domain/lead/erasing/erased.js'
import { callsOf } from '../../domain/lead/erasing/named-calls.js'
import { restatedId, type LeadRestatedEvent } from '../../domain/lead/erasing/restated.js'
import { isErasing } from '../../domain/person/erasing.js'
import { isUnreadable, typeInLog } from '../../domain/sealed/left.js'
import type { StoredEvent } from '../../domain/stored-event.js'
import type { Streams } from '../../event-store/streams.js'

/** What is known of a stream, without what it says of the person. */
export interface Seen {
  revision: bigint
  position: bigint
  commandIds: Set<string>
  /** Whether it is told of everything that it is erased. */
  isClean: boolean
  /** Whether anything of it can be read without a key: that is to be hidden. */
  isPlain: boolean
  /** Leads that it says of that they are erased. */
  told: Set<number>
  /** What is told of erased leads behind all that is to be hidden: from which revision on, and with which calls. */
  ended: Ended | undefined
  /** Leads that it tells of, those that were erased too, with their contacts. */
  leads: Map<number, number[]>
  /** Where those who stay are told of again, and what it says of each of them; and who was told to be erased since. */
  restatedAt: bigint | undefined
  restated: Map<number, Restated>
  toldSince: Set<number>
  /** Of its first event of an erasure. */
  erasedAt: bigint | undefined
}

/** What was told last, all calls that were ever named, and where it was told first. */
export interface Restated { data: LeadRestatedEvent['data'], calls: Set<string>, position: bigint }

interface Ended { from: bigint, leads: Set<number>, calls: Set<string> }

/** Of a long stream nothing is kept but what erasures have left. */
export async function look (streams: Pick<Streams, 'visit'>, stream: string): Promise<Seen | undefined> {
  let seen: Seen | undefined
  let isPending = false
  await streams.visit(stream, 0n, (stored) => {
    const { revision, position } = stored
    const { leads = new Map<number, number[]>(), told = new Set<number>(), erasedAt, ...before } = seen ?? nothing()
    const { commandIds = new Set<string>() } = before
    const { command_id: commandId = '' } = stored.metadata
    if (isUuid(commandId)) commandIds.add(commandId)
    const ended = erasedLead(stored)
    if (ended !== undefined) told.add(ended)
    const isSealed = isSealedLead(stored)
    isPending = isSealed || (isPending && ended === undefined)
    const isPlainItself = !(isSealed || isImpersonal(stored))
    const isPlain = (seen?.isPlain ?? false) || isPlainItself
    for (const [id, contacts] of leadsIn(stored)) leads.set(id, [...new Set([...leads.get(id) ?? [], ...contacts])])
    const isOfErasure = isErasing(stored)
    seen = {
      revision,
      position,
      commandIds,
      isClean: !isPlain && !isPending,
      isPlain,
      told,
      ended: isPlainItself ? undefined : afterEnding(seen?.ended, stored),
      leads,
      ...afterRestating(before, stored),
      erasedAt: erasedAt ?? (isOfErasure ? revision : undefined)
    }
  })
  return seen
}

function afterEnding (before: Ended | undefined, stored: StoredEvent): Ended | undefined {
  const { event } = typeInLog(stored) === 'LeadErased' ? tryDecode(stored) : {}
  if (event?.type !== 'LeadErased' || !event.data.with_lead) return before
  const { from, leads, calls } = before ?? { from: stored.revision, leads: new Set<number>(), calls: new Set<string>() }
  for (const { call_id } of callsOf(event)) calls.add(call_id)
  return { from, leads: leads.add(event.data.lead_id), calls }
}

type Retold = Pick<Seen, 'restatedAt' | 'restated' | 'toldSince'>

const nothing = (): Partial<Seen> & Retold => ({ restatedAt: undefined, restated: new Map(), toldSince: new Set() })

function afterRestating ({ restatedAt, restated, toldSince }: Retold, stored: StoredEvent): Retold {
  const { revision, position } = stored
  const { event } = ['LeadRestated', 'LeadErased'].includes(typeInLog(stored)) ? tryDecode(stored) : {}
  if (event?.type === 'LeadErased' && restatedAt !== undefined) for (const id of erasedIds(event)) toldSince.add(id)
  if (event?.type !== 'LeadRestated') return { restatedAt, restated, toldSince }
  const before = restated.get(restatedId(event))
  const calls = new Set([...before?.calls ?? [], ...event.data.calls])
  restated.set(restatedId(event), { data: event.data, calls, position: before?.position ?? position })
  return { restatedAt: restatedAt ?? revision, restated, toldSince }
}

/** Nobody can read it once the key is gone, or it says nothing of a person: it may stay, with its end behind it. */
function isSealedLead (stored: StoredEvent): boolean {
  const { stream, type, metadata: { schema_version: version = '1' } } = stored
  if (!stream.startsWith('lead-')) return false
  if (type === 'LeadCreated' || type === 'LeadUpdated') return version !== '1'
  return isUnreadable(stored) || ['LeadRestated', 'LeadStatusChanged', 'LeadDeleted'].includes(type)
}

function erasedLead (stored: StoredEvent): number | undefined {
  const { event } = typeInLog(stored) === 'LeadErased' ? tryDecode(stored) : {}
  return event?.type === 'LeadErased' && event.data.with_lead ? event.data.lead_id : undefined
}

/** An entry that was erased is deleted without its number. */
function isImpersonal (stored: StoredEvent): boolean {
  const { type, data } = stored
  if (isErasing(stored)) return true
  if (type !== 'PhoneNumberUnblacklisted' || typeof data !== 'object' || data === null) return false
  return Reflect.get(data, 'phone_number') == null && Reflect.get(data, 'sealed') == null
}

/** Also of leads whose events readers could not take. */
function leadsIn (stored: StoredEvent): Array<[number, number[]]> {
  const { event } = tryDecode(stored)
  switch (event?.type) {
    case 'LeadCreated': return [[event.data.lead_id, event.data.secondary_contacts.map(({ id }) => id)]]
    case 'LeadRestated': return [[event.data.lead_id, event.data.contact_id === null ? [] : [event.data.contact_id]]]
    case 'LeadErased': return event.data.with_lead ? [[event.data.lead_id, event.data.contact_ids]] : []
    default: return []
  }
}
