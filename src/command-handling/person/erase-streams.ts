// Takes a person out of streams: appends what is left of each, and hides what is before. Every step may be repeated.
import { erasingDecider, type EraseCall } from '../../domain/call/decide.js'
import { callStream, type CallCompleted } from '../../domain/call/events.js'
import { erasedEntries, type KnownEntry } from '../../domain/blacklist/erase.js'
import { tryDecode, type DomainEvent } from '../../domain/events.js'
import type { LeadErasedEvent } from '../../domain/lead/erasing/erased.js'
import type { Streams } from '../../event-store/streams.js'
import { appendErasing, type ErasingOptions } from './append-erasing.js'
import { inParts } from './named-calls.js'
import { look } from './seen-stream.js'

/** The position of the last event of a stream that is not erased yet; nothing where there is none, or nothing to do. */
export async function positionToErase (
  streams: Pick<Streams, 'visit'>, stream: string
): Promise<bigint | undefined> {
  const seen = await look(streams, stream)
  return seen && !seen.isClean ? seen.position : undefined
}

/**
 * All leads of a stream. `known` are those that readers have, once they have passed the position that was told before.
 * What is sealed stays, as its key is gone. Where something plain is hidden, those that were erased earlier are told
 * again, as what told of them is hidden too; elsewhere that stays, so that calls which came after it know their lead.
 * @returns false when somebody else appended meanwhile, or there is nothing to tell of: look again
 */
export async function eraseLeads (
  options: ErasingOptions, stream: string, at: bigint, campaignId: number,
  known: { lead_id: number, contacts: number[], calls: NamedCall[] }[]
): Promise<boolean> {
  const seen = await look(options.streams, stream)
  if (!seen || seen.isClean || seen.position !== at) return false
  const { userId: user_id, now } = options
  for (const { lead_id, contacts } of known) seen.leads.set(lead_id, contacts)
  const callsOf = new Map(known.map(({ lead_id, calls }) => [lead_id, calls]))
  const untold = [...seen.leads].filter(([id]) => seen.isPlain || !seen.told.has(id))
  const events = untold.flatMap(([lead_id, contact_ids]) => {
    const data = { lead_id, user_id, campaign_id: campaignId, with_lead: true, contact_ids, erased_at: now }
    return erasedWith(data, seen.isPlain ? callsOf.get(lead_id) : [])
  })
  if (seen.isPlain) return await replace(options, stream, seen.revision, events)
  return events.length > 0 && await appendErasing(options, stream, seen.revision, events) !== undefined
}

type NamedCall = NonNullable<LeadErasedEvent['data']['calls']>[number]

/** Where it is hidden whose a lead or contact was, its calls are named. */
const erasedWith = (data: LeadErasedEvent['data'], calls: NamedCall[] = []): LeadErasedEvent[] =>
  inParts(calls).map((part) => ({ type: 'LeadErased', data: part.length > 0 ? { ...data, calls: part } : data }))

interface ErasedContacts { lead_id: number, campaign_id: number, contact_ids: number[], calls: NamedCall[] }

/** Secondary contacts of a lead that stays: what is before stays too, as it is another person's. */
export async function eraseContacts (
  options: ErasingOptions, stream: string, { lead_id, campaign_id, contact_ids, calls }: ErasedContacts
): Promise<void> {
  const { streams, userId: user_id, now } = options
  const data = { lead_id, user_id, campaign_id, with_lead: false, contact_ids, erased_at: now }
  for (;;) {
    const seen = await look(streams, stream)
    if (!seen) return
    const events = erasedWith(data, seen.restatedAt === undefined ? [] : calls)
    if (await appendErasing(options, stream, seen.revision, events) !== undefined) return
  }
}

/** @param found as readers have the call; without it the call is erased already, but for what is before */
export async function eraseCall (
  options: ErasingOptions, callId: string, found: Pick<EraseCall, 'report' | 'left'> | undefined
): Promise<void> {
  const stream = callStream(callId)
  for (;;) {
    const seen = await look(options.streams, stream)
    if (!seen) return
    if (seen.erasedAt !== undefined) return await options.streams.truncate(stream, seen.erasedAt)
    if (!found) return
    const events = erasingDecider.decide({ ...found, now: options.now }, undefined)
    if (await replace(options, stream, seen.revision, events)) return
  }
}

/** A call of which readers keep no report, as its person was erased before it was reported: the log has it. */
export async function eraseLateCall (options: ErasingOptions, callId: string): Promise<void> {
  let report: CallCompleted | undefined
  await options.streams.visit(callStream(callId), 0n, (stored) => {
    const { event } = tryDecode(stored)
    if (event?.type === 'CallCompleted') report ??= event.data
  })
  await eraseCall(options, callId, report && { report })
}

/** @returns false when somebody else appended meanwhile: look again */
export async function eraseEntries (
  options: ErasingOptions, stream: string, at: bigint, entries: KnownEntry[]
): Promise<boolean> {
  const seen = await look(options.streams, stream)
  if (!seen || seen.isClean || seen.position !== at) return false
  return await replace(options, stream, seen.revision, erasedEntries(entries, options.now))
}

/** @returns whether it was done; nothing is hidden that nothing stands for */
async function replace (
  options: ErasingOptions, stream: string, revision: bigint, events: DomainEvent[]
): Promise<boolean> {
  if (events.length === 0) return false
  const last = await appendErasing(options, stream, revision, events)
  if (last === undefined) return false
  await options.streams.truncate(stream, last - BigInt(events.length) + 1n)
  return true
}
