// Finds and erases what is under a person's number: leads, contacts and do-not-call entries. Parked events cannot be
// erased: read models do not have them yet, and after the person's key is deleted they never will.
import {
  digested, findCampaignIds, findContacts, findEntries, findHalfKnown, findLeadIds, findLeadsOn, findOwnCalls,
  findOwner, findParked, findUnowned, type ParkedStream, type Person, type Unowned
} from '../../projections/persons.js'
import { erasedEntries } from '../../src/features/blacklist/model.js'
import { leadStream } from '../../src/features/leads/events.js'
import type { Services } from '../../src/services/services.js'
import { eraseContacts, erasedLeads, eraseStream, type ErasingOptions } from './erase-streams.js'
import { forgetCommands } from './erasure-rows.js'
import { calls } from '../../projections/calls.js'
import { catalog } from '../../projections/catalog.js'
import { activeGeneration, schemaOf } from '../../projections/engine/generations.js'
import { leads } from '../../projections/leads.js'
import { dispatcher } from '../../projections/engine/parked.js'
import { assistantStream } from '../../src/features/assistants/events.js'
import { callIdOf, callStream } from '../../src/features/calls/events.js'
import { tryDecode } from '../../src/domain/events.js'
import { isErasing } from '../../src/features/persons/model.js'
import { isFields } from '../../src/domain/sealed.js'
import type { StoredEvent } from '../../src/domain/stored-event.js'

export type NamedServices = Pick<Services, 'pool' | 'streams' | 'positions' | 'phoneHash'>

/** The user's streams that stand for the number. */
export async function streamsOf (services: NamedServices, person: Person): Promise<string[]> {
  const leads = await leadStreams(services, person)
  return [entryStream(services, person), ...leads.map(({ stream }) => stream)]
}

/** Ids of leads and contacts with the number. */
export async function leadIdsOf (services: NamedServices, person: Person): Promise<number[]> {
  const { pool, phoneHash } = services
  return await findLeadIds(pool, digested(person, phoneHash), await streamsOf(services, person))
}

/**
 * Erases leads, do-not-call entries, and contacts.
 * @param leadIds known ids: contacts who came meanwhile stay for now, as only these ids find calls
 * @returns whether anything was there, or somebody else appended meanwhile
 */
export async function eraseNamed (
  services: NamedServices, person: Person, leadIds: readonly number[], requestId: string
): Promise<boolean> {
  const { pool, streams, phoneHash } = services
  const { userId } = person
  const options: ErasingOptions = {
    streams, userId, requestId, now: new Date().toISOString(), forget: (ids) => forgetCommands(pool, userId, ids)
  }
  const entries = entryStream(services, person)
  let hasFound = await eraseStream(options, entries, async ({ position }) => {
    await readersAt(services, position)
    return erasedEntries(await findEntries(pool, userId, entries), options.now)
  })
  for (const { stream, campaignId } of await leadStreams(services, person)) {
    hasFound = await eraseStream(options, stream, async (seen) => {
      await readersAt(services, seen.position)
      return erasedLeads(options, seen, campaignId, await findLeadsOn(pool, person, stream, phoneHash))
    }) || hasFound
  }
  const own = new Set(await streamsOf(services, person))
  for (const contacts of await findContacts(pool, digested(person, phoneHash))) {
    hasFound = true
    if (own.has(contacts.stream) || !contacts.contact_ids.every((id) => leadIds.includes(id))) continue
    await eraseContacts(options, contacts)
  }
  return hasFound
}

/** @throws Error while they are behind; the turn is then tried again */
async function readersAt ({ positions }: NamedServices, position: bigint): Promise<void> {
  if ((await positions.late(['leads', 'calls'], position)).length === 0) return
  throw new Error('the read models of leads and calls are behind the log')
}

async function leadStreams ({ pool, phoneHash }: NamedServices, person: Person) {
  const ids = await findCampaignIds(pool, person)
  return ids.map((campaignId) => ({ campaignId, stream: leadStream(campaignId, phoneHash(person.phoneNumber)) }))
}

const entryStream = ({ phoneHash }: NamedServices, person: Person) => digested(person, phoneHash).entryStream

type BackEnds = Pick<Services, 'pool' | 'streams'>

/** Most streams that are named at once. */
const mostNamed = 5

/** For people: what a request waits for. */
export const parkedEventsOf = (streams: readonly string[]) =>
  `${parkedEvents}, which an operator retries or skips (ringledger projections quarantine): ${streams.join(', ')}`
export const parkedEvents = 'parked events'

/** @param requestId events that this request appended count as the person's, too @returns names of streams */
export async function parkedOf (
  services: NamedServices, person: Person, requestId: string
): Promise<string[]> {
  const { pool, streams } = services
  const parked = await parkedNow(pool)
  const unowned = await findUnowned(pool)
  if (parked.length + unowned.length === 0) return []
  const leadIds = await leadIdsOf(services, person)
  const callIds = parked.flatMap(({ stream }) => callIdOf(stream) ?? [])
  const about = { person, leadIds, requestId }
  const ownCalls = [
    ...await findOwnCalls(pool, person, leadIds, callIds), ...await halfKnown(services, person, leadIds)
  ]
  const contacts = await findContacts(pool, digested(person, services.phoneHash))
  const streamsOfContacts = contacts.map(({ stream }) => stream)
  const own = new Set([...await streamsOf(services, person), ...streamsOfContacts, ...ownCalls.map(callStream)])
  const found: string[] = []
  for (const { stream, revision } of parked) {
    const isOwn = own.has(stream) || await isNamed(services, stream, revision, about)
    if (isOwn && found.push(stream) === mostNamed) return found
  }
  const isParked = (stream: string) => parked.some((one) => one.stream === stream)
  const ofNobody = new Set(await nobodysAmong(streams, unowned, parked))
  for (const { id, assistantId } of unowned) {
    if (ofNobody.has(id) || !await isNamed(services, callStream(id), 0n, about)) continue
    const waiting = [callStream(id), assistantStream(assistantId)].find(isParked)
    found.push(waiting ?? `${callStream(id)} (replay calls)`)
    if (found.length >= mostNamed) break
  }
  return [...new Set(found)]
}

/** Calls whose events in the log name the person, though no row does. */
export async function halfKnown (
  services: BackEnds, person: Person, leadIds: readonly number[]
): Promise<string[]> {
  const found: string[] = []
  for (const id of await findHalfKnown(services.pool, person.userId)) {
    if (await isNamed(services, callStream(id), 0n, { person, leadIds })) found.push(id)
  }
  return found
}

interface About { person: Person, leadIds: readonly number[], requestId?: string }

/** Whether an event from the revision on is about the person. */
async function isNamed ({ pool, streams }: BackEnds, stream: string, from: bigint, about: About): Promise<boolean> {
  const naming: StoredEvent[] = []
  await streams.visit(stream, from, (stored) => { if (isAbout(stored, about)) naming.push(stored) })
  for (const { data } of naming) if (!await isOfAnother(pool, data, about.person)) return true
  return false
}

/** Whether the event names a user or an assistant, and that is somebody else's. */
async function isOfAnother (pool: BackEnds['pool'], data: unknown, { userId }: Person): Promise<boolean> {
  if (!isFields(data)) return false
  const owner = typeof data.user_id === 'string' ? data.user_id : await findOwner(pool, data.assistant_id)
  return owner !== undefined && owner !== userId
}

async function parkedNow (pool: Services['pool']): Promise<ParkedStream[]> {
  const schemas = [leads, calls, catalog].map(async (each) => schemaOf(each, await activeGeneration(pool, each)))
  return await findParked(pool, [...await Promise.all(schemas), dispatcher])
}

/**
 * Calls whose assistant the log does not have before them: nobody will ever know whose they are. A call is somebody's
 * if it or its assistant is parked.
 */
export async function nobodys ({ pool, streams }: BackEnds): Promise<string[]> {
  const unowned = await findUnowned(pool)
  return unowned.length === 0 ? [] : await nobodysAmong(streams, unowned, await parkedNow(pool))
}

async function nobodysAmong (
  streams: Pick<Services['streams'], 'read'>, unowned: readonly Unowned[], waiting: readonly ParkedStream[]
): Promise<string[]> {
  const parked = new Set(waiting.map(({ stream }) => stream))
  const created = new Map<number, bigint | undefined>()
  for (const { assistantId } of unowned) {
    if (created.has(assistantId)) continue
    const [first] = await streams.read(assistantStream(assistantId), 0n, 1)
    const isSound = first && (parked.has(first.stream) || tryDecode(first).event)
    created.set(assistantId, isSound ? first.position : undefined)
  }
  const isNobodys = ({ assistantId, position }: Unowned) => (created.get(assistantId) ?? position) >= position
  return unowned.filter((call) => isNobodys(call) && !parked.has(callStream(call.id))).map(({ id }) => id)
}

/** Searches the text, as a parked event may be malformed. Events of erasures name nobody. */
function isAbout (
  stored: StoredEvent, { person: { phoneNumber }, leadIds, requestId }: About
): boolean {
  const { data, metadata } = stored
  if (requestId !== undefined && metadata.$correlationId === requestId) return true
  if (isErasing(stored)) return false
  if (isFields(data) && typeof data.lead_id === 'number' && leadIds.includes(data.lead_id)) return true
  const text = data instanceof Uint8Array ? Buffer.from(data).toString('utf8') : JSON.stringify(data) ?? ''
  return new RegExp(`\\${phoneNumber}(?!\\d)`).test(text) // a longer number is another person's
}
