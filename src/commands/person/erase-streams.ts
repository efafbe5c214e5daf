// Takes a person out of streams: appends what is left of each, and hides what is before. Every step may be repeated.
import { type EraseCall, erasingDecider } from '../../features/calls/model.js'
import { callStream } from '../../features/calls/events.js'
import { erasedEntries, type KnownEntry } from '../../features/blacklist/model.js'
import { tryDecode, type DomainEvent } from '../../domain/events.js'
import type { DigestOfContact, LeadErasedEvent } from '../../features/leads/events.js'
import { streamErased } from '../../features/persons/model.js'
import { uuidV5 } from '../../log/stored.js'
import type { Streams } from '../../log/event-log.js'
import { appendAt, appendErasing, type ErasingOptions, type SeenEnd } from './append-erasing.js'
import { look, type Seen } from './seen-stream.js'

/** The position of the last event of a stream that is not erased yet; nothing where there is none, or nothing to do. */
export async function positionToErase (
  streams: Pick<Streams, 'visit'>, stream: string
): Promise<bigint | undefined> {
  const seen = await look(streams, stream)
  return seen && !seen.isClean ? seen.position : undefined
}

/**
 * All leads of a stream. What is sealed stays, as its key is gone.
 * @param knownAt what readers have, once they have passed the position
 * @returns false when there is nothing to tell of; otherwise it is to be looked at again, with a new key too
 */
export async function eraseLeads (
  options: ErasingOptions, stream: string, campaignId: number, knownAt: (position: bigint) => Promise<LeadToErase[]>
): Promise<boolean> {
  const seen = await look(options.streams, stream)
  if (!seen || seen.isClean) return false
  const events = untold(options, seen, campaignId, await knownAt(seen.position))
  if (events.length === 0) return false
  await appendErasing(options, stream, seen, events)
  return true
}

interface LeadToErase { lead_id: number, contacts: number[], digests: DigestOfContact[] }

/** Whatever the stream does not say yet of each lead. */
function untold (
  { userId: user_id, now }: ErasingOptions, { erased, leads }: Seen, campaign_id: number, known: LeadToErase[]
): LeadErasedEvent[] {
  for (const { lead_id, contacts } of known) leads.set(lead_id, contacts)
  const digestsOf = new Map(known.map(({ lead_id, digests }) => [lead_id, digests]))
  return [...leads].filter(([lead_id]) => !erased.has(lead_id)).map(([lead_id, contact_ids]) => {
    const digests = digestsOf.get(lead_id) ?? []
    const data = { lead_id, user_id, campaign_id, with_lead: true, contact_ids, erased_at: now }
    return { type: 'LeadErased', data: digests.length > 0 ? { ...data, digests } : data }
  })
}

interface ErasedContacts { lead_id: number, campaign_id: number, contact_ids: number[] }

/** Secondary contacts of a lead that stays: what is before stays too, as it is another person's. */
export async function eraseContacts (
  options: ErasingOptions, stream: string, { lead_id, campaign_id, contact_ids }: ErasedContacts
): Promise<void> {
  const { streams, userId: user_id, now } = options
  const data = { lead_id, user_id, campaign_id, with_lead: false, contact_ids, erased_at: now }
  for (;;) {
    const seen = await look(streams, stream)
    if (!seen || await appendErasing(options, stream, seen, [{ type: 'LeadErased', data }]) !== undefined) return
  }
}

type FoundCall = Pick<EraseCall, 'left'> & { report: EraseCall['report'] | null }

/**
 * All that is in the stream goes, also where no report of it can be read.
 * @param found as readers have the call, without a report where only the log has one
 */
export async function eraseCall (
  options: ErasingOptions, callId: string, found: FoundCall
): Promise<void> {
  const stream = callStream(callId)
  for (;;) {
    const seen = await look(options.streams, stream)
    if (!seen) return
    if (seen.erasedAt !== undefined) return await options.streams.truncate(stream, seen.erasedAt)
    const report = found.report ?? await reportIn(options.streams, stream)
    const events = report && erasingDecider.decide({ ...found, report, now: options.now }, undefined)
    if (events ? await replace(options, stream, seen, events) : await replaceUnread(options, stream, seen)) return
  }
}

/** Or what is plain in it. */
async function reportIn (
  streams: Pick<Streams, 'visit'>, stream: string
): Promise<EraseCall['report'] | undefined> {
  let report: EraseCall['report'] | undefined
  await streams.visit(stream, 0n, (stored) => {
    const { event } = tryDecode(stored)
    if (event?.type === 'CallCompleted' || event?.type === 'CallErased') report ??= event.data
  })
  return report
}

/** @returns false when there is nothing to tell of; otherwise it is to be looked at again */
export async function eraseEntries (
  options: ErasingOptions, stream: string, at: bigint, entries: KnownEntry[]
): Promise<boolean> {
  const seen = await look(options.streams, stream)
  const events = erasedEntries(entries, options.now)
  if (!seen || seen.isClean || events.length === 0) return false
  if (seen.position === at) await replace(options, stream, seen, events)
  return true // also where somebody else appended meanwhile
}

async function replaceUnread (
  { streams, requestId }: ErasingOptions, stream: string, { revision }: SeenEnd
): Promise<boolean> {
  const event = { id: uuidV5(requestId, `${stream}@${revision}`), type: streamErased, data: {}, metadata: {} }
  const appended = await appendAt(streams, stream, [event], revision)
  if (appended !== undefined) await streams.truncate(stream, appended)
  return appended !== undefined
}

/** @returns whether it was done; nothing is hidden that nothing stands for */
async function replace (
  options: ErasingOptions, stream: string, seen: SeenEnd, events: DomainEvent[]
): Promise<boolean> {
  if (events.length === 0) return false
  const last = await appendErasing(options, stream, seen, events)
  if (last === undefined) return false
  await options.streams.truncate(stream, last - BigInt(events.length) + 1n)
  return true
}
