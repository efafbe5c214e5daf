// What stands under the number of a person: leads, contacts and do-not-call entries.
import * as rows from '../../../projections/persons.js'
import { leadStream } from '../../../src/features/leads/events.js'
import type { Services } from '../../../src/services/services.js'
import { areBefore } from '../continue.js'
import { eraseContacts, eraseEntries, eraseLeads, type ErasingOptions } from './erase-streams.js'
import { forgetCommands } from './ledger.js'

export type NamedServices = Pick<Services, 'pool' | 'streams' | 'positions' | 'phoneHash'>

/** Of the user, that stand for the number. */
export async function streamsOf (services: NamedServices, person: rows.Person): Promise<string[]> {
  const leads = await leadStreams(services, person)
  return [entryStream(services, person), ...leads.map(({ stream }) => stream)]
}

/** Also of leads that have the person as a contact. */
export async function allStreamsOf (services: NamedServices, person: rows.Person): Promise<string[]> {
  const contacts = await rows.findContacts(services.pool, rows.digested(person, services.phoneHash))
  return [...await streamsOf(services, person), ...contacts.map(({ stream }) => stream)]
}

/** Of leads and contacts with the number. */
export async function leadIdsOf (services: NamedServices, person: rows.Person): Promise<number[]> {
  const { pool, phoneHash } = services
  return await rows.findLeadIds(pool, rows.digested(person, phoneHash), await streamsOf(services, person))
}

/**
 * Erases leads, do-not-call entries, and contacts.
 * @param leadIds that are known: contacts who came meanwhile stay, as their calls can only be found by these
 * @returns whether anything was there, or somebody else appended meanwhile
 */
export async function eraseNamed (
  services: NamedServices, person: rows.Person, leadIds: readonly number[], requestId: string
): Promise<boolean> {
  const { pool, streams, phoneHash } = services
  const { userId } = person
  const options: ErasingOptions = {
    streams, userId, requestId, now: new Date().toISOString(), forget: (ids) => forgetCommands(pool, userId, ids)
  }
  const entries = entryStream(services, person)
  let hasFound = await eraseEntries(options, entries, async (position) => {
    await readersAt(services, position)
    return await rows.findEntries(pool, userId, entries)
  })
  for (const { stream, campaignId } of await leadStreams(services, person)) {
    hasFound = await eraseLeads(options, stream, campaignId, async (position) => {
      await readersAt(services, position)
      return await rows.findLeadsOn(pool, person, stream, phoneHash)
    }) || hasFound
  }
  const own = new Set(await streamsOf(services, person))
  for (const contacts of await rows.findContacts(pool, rows.digested(person, phoneHash))) {
    hasFound = true
    if (own.has(contacts.stream) || !contacts.contact_ids.every((id) => leadIds.includes(id))) continue
    await eraseContacts(options, contacts)
  }
  return hasFound
}

/** @throws Error while they are behind: it is tried again */
async function readersAt ({ positions }: NamedServices, position: bigint): Promise<void> {
  if ((await areBefore(positions, ['leads', 'calls'], position)).length === 0) return
  throw new Error('the read models of leads and calls are behind the log')
}

async function leadStreams ({ pool, phoneHash }: NamedServices, person: rows.Person) {
  const ids = await rows.findCampaignIds(pool, person)
  return ids.map((campaignId) => ({ campaignId, stream: leadStream(campaignId, phoneHash(person.phoneNumber)) }))
}

const entryStream = ({ phoneHash }: NamedServices, person: rows.Person) => rows.digested(person, phoneHash).entryStream
