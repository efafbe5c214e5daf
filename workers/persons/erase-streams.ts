// Erases a person from streams: appends an event with what is left, and hides what is before. Steps may be repeated.
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
  /** The user and the request that each event names as its cause. */
  userId: string
  requestId: string
  /** ISO 8601. */
  now: string
  /** Forgets the answers of these commands. Their retries are refused, because their events may be gone. */
  forget? (commandIds: readonly string[]): Promise<void>
}

type LeadsToErase = Awaited<ReturnType<typeof findLeadsOn>>
type ContactsToErase = Awaited<ReturnType<typeof findContacts>>[number]

/**
 * Erases all leads, or all do-not-call entries, of a stream. Sealed data of leads stays, as its key is gone.
 * @param untold gives the erasure events that the stream still lacks
 * @returns false if it lacks none; otherwise look at the stream again, as there may also be a new key
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

/** @param known rows of read models that have passed the position of `seen` */
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

/** Erases secondary contacts of a lead that stays. Earlier events stay too, as they are another person's. */
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
 * Erases the whole stream, even if nobody can read a report in it.
 * @param found the call in the read model, without a report if only the log has one
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

/** The first report in the stream, or its plain part if its key is gone. */
async function reportIn (streams: Pick<Streams, 'visit'>, stream: string): Promise<EraseCall['report'] | undefined> {
  let report: EraseCall['report'] | undefined
  await streams.visit(stream, 0n, (stored) => {
    const { event } = tryDecode(stored)
    if (event?.type === 'CallCompleted' || event?.type === 'CallErased') report ??= event.data
  })
  return report
}

/**
 * @param events nothing if none can be read: then one without data stands for them
 * @returns whether it was done; events are hidden only after one that stands for them
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

/** @returns the revision of the first event; nothing if somebody else appended first */
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

/** Facts about a stream, without personal data. */
export interface Seen {
  revision: bigint
  position: bigint
  commandIds: Set<string>
  /** Whether erasure events cover everything in it. */
  isClean: boolean
  /** Leads that have an erasure event. */
  erased: Set<number>
  /** All its leads, even erased ones, with their contacts. */
  leads: Map<number, number[]>
  /** Revision of the first erasure event that has nothing personal after it. */
  erasedAt: bigint | undefined
}

const isOfLead = (stream: string) => stream.startsWith('lead-')

/** Visits event by event, so that a long stream is never in memory. */
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
    seen.erasedAt = undefined // personal data came after it
  })
  return seen
}

/** Sealed events may stay before the erasure event: nobody can read them once the key is gone. */
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

/** Includes leads whose events the read models could not project. */
function see ({ leads }: Seen, lead: number, contacts: number[]): void {
  leads.set(lead, [...new Set([...leads.get(lead) ?? [], ...contacts])])
}

/** The deletion of an erased entry has no number. */
function isImpersonal (stored: StoredEvent): boolean {
  const { type, data } = stored
  if (isErasing(stored)) return true
  if (type !== 'PhoneNumberUnblacklisted' || typeof data !== 'object' || data === null) return false
  return Reflect.get(data, 'phone_number') == null && Reflect.get(data, 'sealed') == null
}
