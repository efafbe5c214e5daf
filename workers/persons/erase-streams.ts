// Takes a person out of streams: appends what is left of each, and hides what is before. Every step may be repeated.
import type { findContacts, findLeadsOn, findReport } from '../../projections/persons.js'
import { proposed } from '../../src/commands/handle.js'
import { tryDecode, type DomainEvent, type EventType } from '../../src/domain/events.js'
import { isUuid } from '../../src/domain/json.js'
import { typeInLog } from '../../src/domain/sealed.js'
import type { StoredEvent } from '../../src/domain/stored-event.js'
import { callStream } from '../../src/features/calls/events.js'
import { type EraseCall, erasingDecider } from '../../src/features/calls/model.js'
import type { LeadErasedEvent } from '../../src/features/leads/events.js'
import { isErasing, streamErased } from '../../src/features/persons/model.js'
import { RevisionConflict } from '../../src/log/errors.js'
import type { Streams } from '../../src/log/event-log.js'
import { uuidV5 } from '../../src/log/stored.js'

export interface ErasingOptions {
  streams: Pick<Streams, 'visit' | 'append' | 'truncate'>
  /** For whom, and of which request: what each event names as its cause. */
  userId: string
  requestId: string
  /** ISO 8601. */
  now: string
  /** Forgets what these commands answered. Their retries are refused: their events may not be found any more. */
  forget? (commandIds: readonly string[]): Promise<void>
}

type LeadsToErase = Awaited<ReturnType<typeof findLeadsOn>>
type ContactsToErase = Awaited<ReturnType<typeof findContacts>>[number]

/**
 * All leads, or all do-not-call entries, of a stream. What is sealed of leads stays, as its key is gone.
 * @param untold whatever the stream does not say yet of what is to be erased
 * @returns false when there is nothing to tell of; otherwise it is to be looked at again, with a new key too
 */
export async function eraseStream (
  options: ErasingOptions, stream: string, untold: (seen: Seen) => Promise<DomainEvent[]>
): Promise<boolean> {
  const seen = await look(options.streams, stream)
  const events = !seen || seen.isClean ? [] : await untold(seen)
  if (!seen || events.length === 0) return false
  if (isOfLead(stream)) await appendErasing(options, stream, seen, events)
  else await replace(options, stream, seen, events)
  return true // also where somebody else appended meanwhile
}

/** @param known what readers have, once they have passed the position of what was seen */
export function erasedLeads (
  { userId: user_id, now }: ErasingOptions, { erased, leads }: Seen, campaign_id: number, known: LeadsToErase
): LeadErasedEvent[] {
  for (const { lead_id, contacts } of known) leads.set(lead_id, contacts)
  const digestsOf = new Map(known.map(({ lead_id, digests }) => [lead_id, digests]))
  return [...leads].filter(([lead_id]) => !erased.has(lead_id)).map(([lead_id, contact_ids]) => {
    const digests = digestsOf.get(lead_id) ?? []
    const data = { lead_id, user_id, campaign_id, with_lead: true, contact_ids, erased_at: now }
    return { type: 'LeadErased', data: digests.length > 0 ? { ...data, digests } : data }
  })
}

/** Secondary contacts of a lead that stays: what is before stays too, as it is another person's. */
export async function eraseContacts (
  options: ErasingOptions, { stream, lead_id, campaign_id, contact_ids }: ContactsToErase
): Promise<void> {
  const { streams, userId: user_id, now } = options
  const data = { lead_id, user_id, campaign_id, with_lead: false, contact_ids, erased_at: now }
  for (;;) {
    const seen = await look(streams, stream)
    if (!seen || await appendErasing(options, stream, seen, [{ type: 'LeadErased', data }]) !== undefined) return
  }
}

/**
 * All that is in the stream goes, also where no report of it can be read.
 * @param found as readers have the call, without a report where only the log has one
 */
export async function eraseCall (
  options: ErasingOptions, callId: string, found: Awaited<ReturnType<typeof findReport>>
): Promise<void> {
  const stream = callStream(callId)
  for (;;) {
    const seen = await look(options.streams, stream)
    if (!seen) return
    if (seen.erasedAt !== undefined) return await options.streams.truncate(stream, seen.erasedAt)
    const report = found.report ?? await reportIn(options.streams, stream)
    const events = report && erasingDecider.decide({ ...found, report, now: options.now }, undefined)
    if (await replace(options, stream, seen, events)) return
  }
}

/** Or what is plain in it. */
async function reportIn (streams: Pick<Streams, 'visit'>, stream: string): Promise<EraseCall['report'] | undefined> {
  let report: EraseCall['report'] | undefined
  await streams.visit(stream, 0n, (stored) => {
    const { event } = tryDecode(stored)
    if (event?.type === 'CallCompleted' || event?.type === 'CallErased') report ??= event.data
  })
  return report
}

/**
 * @param events nothing where none can be read: then one without data stands for them
 * @returns whether it was done; nothing is hidden that nothing stands for
 */
async function replace (
  options: ErasingOptions, stream: string, seen: Seen, events: DomainEvent[] | undefined
): Promise<boolean> {
  if (events?.length === 0) return false
  const first = await appendErasing(options, stream, seen, events)
  if (first === undefined) return false
  await options.streams.truncate(stream, first)
  return true
}

/** @returns the revision of the first one; nothing when somebody else was first */
async function appendErasing (
  { streams, userId, requestId, forget }: ErasingOptions, stream: string, { revision, commandIds }: Seen,
  events: DomainEvent[] | undefined
): Promise<bigint | undefined> {
  await forget?.([...commandIds])
  const commandId = uuidV5(requestId, `${stream}@${revision}`)
  const appended = events
    ? proposed(events, { commandId, correlationId: requestId, userId })
    : [{ id: commandId, type: streamErased, data: {}, metadata: {} }]
  try {
    return (await streams.append(stream, appended, revision)).revision - BigInt(appended.length) + 1n
  } catch (error) {
    if (error instanceof RevisionConflict) return undefined
    throw error
  }
}

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

const isOfLead = (stream: string) => stream.startsWith('lead-')

/** Of a long stream nothing is kept but what erasures have left. */
async function look (streams: Pick<Streams, 'visit'>, stream: string): Promise<Seen | undefined> {
  let seen: Seen | undefined
  await streams.visit(stream, 0n, (stored) => {
    const { revision, position, metadata: { command_id: commandId = '' } } = stored
    seen ??= {
      revision, position, commandIds: new Set(), isClean: true, erased: new Set(), leads: new Map(), erasedAt: undefined
    }
    seen.revision = revision
    seen.position = position
    if (isUuid(commandId)) seen.commandIds.add(commandId)
    if (isErasing(stored)) seen.erasedAt ??= revision
    if (isOfLead(stream)) return seeLead(seen, stored)
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
