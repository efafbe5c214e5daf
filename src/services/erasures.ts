// What erasures are worked on with, of persons and of calls that are reported after them: log, read models and keys.
import type { Pool } from 'pg'
import { calls } from '../../projections/calls.js'
import { leads } from '../../projections/leads.js'
import { activeGeneration, outdated } from '../../projections/engine/generations.js'
import { isOnlyGeneration, type LookedThrough } from '../../projections/engine/only-generation.js'
import * as rows from '../../projections/persons.js'
import { abandonedAfter } from '../../workers/deliveries/attempts/abandoned.js'
import type { ErasureWork } from '../../workers/persons/erasures/erasures.js'
import { forgetCommands } from '../../workers/persons/erasures/forget-answers.js'
import type { LateCallWork } from '../../workers/persons/erasures/late-calls.js'
import type { Person } from '../../workers/persons/erasures/request.js'
import { noteUnscavenged } from '../../workers/persons/unscavenged.js'
import {
  type ErasingOptions, eraseCall, eraseContacts, eraseEntries, eraseLeads, positionToErase
} from '../commands/erase-streams.js'
import { leadStream } from '../features/leads/events.js'
import { keyTrustedMs } from '../privacy/person-keys.js'
import { halfKnown, nobodys, parkedOf } from './parked-of-person.js'
import { areBefore, personWork, type PersonServices } from './persons.js'
import type { Services } from './services.js'

type ErasureServices = PersonServices & Pick<Services, 'personKeys'> & { config: { webhook: { timeoutMs: number } } }

const sources = ['leads', 'calls', 'catalog', 'deliveries']
/** Those that have rows of persons. */
const readModels = [{ projection: leads, keysIn: rows.leadKeys }, { projection: calls, keysIn: rows.callKeys }]

export function erasureWork (services: ErasureServices): ErasureWork {
  const { pool, streams, personKeys, phoneHash: digest, config, log } = services
  const { keys, find, end } = personWork(services, sources)
  const named = new Named(pool, services.positions, digest)
  const erasing = ({ userId }: Person, requestId: string): ErasingOptions =>
    ({ streams, userId, requestId, now: new Date().toISOString() })
  const erasingNamed = (person: Person, requestId: string): ErasingOptions =>
    ({ ...erasing(person, requestId), forget: (commandIds) => forgetCommands(pool, person.userId, commandIds) })
  return {
    pool,
    keys,
    settleMs: keyTrustedMs,
    abandonedAfterMs: abandonedAfter(config.webhook),
    endKey: ({ userId, phoneNumber }) => personKeys.erase(userId, phoneNumber),
    behind: () => areBehind(services),
    parked: (person, requestId) => parkedOf(services, person, {
      streams: () => named.allStreams(person), leadIds: () => named.leadIds(person)
    }, requestId),
    generations: () => Promise.all(readModels.map(({ projection }) => activeGeneration(pool, projection))),
    areOnlyIn: async (generations, { userId, phoneNumber }, leadIds, signal) => await areOnly(pool, generations,
      { position: await streams.head(), values: [userId, phoneNumber, leadIds], signal }),
    leadIds: (person) => named.leadIds(person),
    eraseNamed: (person, leadIds, requestId) => named.erase(person, leadIds, erasingNamed(person, requestId)),
    async callIds (person, leadIds, after, most) {
      const others = await halfKnown(services, person, leadIds)
      return await rows.findCallIds(
        pool, person, { leadIds, nobodys: await nobodys(services), others }, after, most)
    },
    async eraseCall (callId, person, requestId) {
      await eraseCall(erasing(person, requestId), callId, await rows.findReport(pool, callId))
    },
    streamsOf: (person) => named.streamsOf(person),
    isOf: async (id, { phoneNumber }) => (await find(id))?.request.number_digest === digest(phoneNumber),
    hasErased: (userId, callIds) => rows.hasErased(pool, userId, callIds),
    scavenge: (requestId) => scavengeFor(services, requestId),
    find: async (id) => (await find(id))?.request,
    end: (id, isDone) => end(id, isDone),
    log
  }
}

/**
 * Which readers have not passed yet what the log has now, or the dispatcher. Nor have those whose rows are of a former
 * release: they lack what an erasure looks for.
 */
export async function areBehind (
  { pool, streams, positions }: Pick<Services, 'pool' | 'streams' | 'positions'>
): Promise<string[]> {
  const ofFormer = await outdated(pool, [leads, calls])
  if (ofFormer.length > 0) return ofFormer.map(({ name }) => `${name}, of a former release`)
  return await areBefore(positions, sources, await streams.head())
}

/** Takes out of the store what is hidden, or notes that its operator has to. */
async function scavengeFor ({ streams, pool }: Pick<Services, 'streams' | 'pool'>, requestId: string): Promise<void> {
  if (!await streams.scavenge()) await noteUnscavenged(pool, requestId)
}

async function areOnly (
  pool: Pool, generations: readonly number[], looked: Omit<LookedThrough, 'generation' | 'keysIn'>
): Promise<boolean | undefined> {
  const found = await Promise.all(readModels.map(({ projection, keysIn }, nth) =>
    isOnlyGeneration(pool, projection, { ...looked, keysIn, generation: generations[nth] ?? 0 })))
  return found.includes(undefined) ? undefined : !found.includes(false)
}

/** What stands under the number of a person: leads, contacts and do-not-call entries. */
class Named {
  constructor (
    private readonly pool: Pool, private readonly positions: Services['positions'],
    private readonly digest: Services['phoneHash']
  ) {}

  async streamsOf (person: Person): Promise<string[]> {
    const leads = await this.#leadStreams(person)
    return [this.#blacklistOf(person), ...leads.map(({ stream }) => stream)]
  }

  /** Also of leads that have the person as a contact. */
  async allStreams (person: Person): Promise<string[]> {
    const contacts = await rows.findContacts(this.pool, rows.digested(person, this.digest))
    return [...await this.streamsOf(person), ...contacts.map(({ stream }) => stream)]
  }

  async leadIds (person: Person): Promise<number[]> {
    return await rows.findLeadIds(this.pool, rows.digested(person, this.digest), await this.streamsOf(person))
  }

  /**
   * @param leadIds that are known: contacts who came meanwhile stay, as their calls can only be found by these
   * @returns whether anything was there, or somebody else appended meanwhile
   */
  async erase (person: Person, leadIds: readonly number[], options: ErasingOptions): Promise<boolean> {
    let hasFound = await this.#eraseEntries(person, options)
    for (const { stream, campaignId } of await this.#leadStreams(person)) {
      hasFound = await eraseLeads(options, stream, campaignId, async (position) => {
        await this.#readersAt(position)
        return await rows.findLeadsOn(this.pool, person, stream, this.digest)
      }) || hasFound
    }
    const own = new Set(await this.streamsOf(person))
    for (const { stream, ...contacts } of await rows.findContacts(this.pool, rows.digested(person, this.digest))) {
      hasFound = true
      if (own.has(stream) || !contacts.contact_ids.every((id) => leadIds.includes(id))) continue
      await eraseContacts(options, stream, contacts)
    }
    return hasFound
  }

  async #eraseEntries (person: Person, options: ErasingOptions): Promise<boolean> {
    const stream = this.#blacklistOf(person)
    const at = await positionToErase(options.streams, stream)
    if (at === undefined) return false
    await this.#readersAt(at)
    const found = await rows.findEntries(this.pool, person.userId, stream)
    const entries = found.map(({ blacklist_id, created_at, is_deleted }) => ({
      blacklist_id, user_id: person.userId, created_at: created_at.toISOString(), isDeleted: is_deleted
    }))
    return await eraseEntries(options, stream, at, entries)
  }

  /** @throws Error while they are behind: it is tried again */
  async #readersAt (position: bigint): Promise<void> {
    if ((await areBefore(this.positions, ['leads', 'calls'], position)).length === 0) return
    throw new Error('the read models of leads and calls are behind the log')
  }

  async #leadStreams (person: Person): Promise<Array<{ stream: string, campaignId: number }>> {
    const ids = await rows.findCampaignIds(this.pool, person)
    return ids.map((campaignId) => ({ campaignId, stream: leadStream(campaignId, this.digest(person.phoneNumber)) }))
  }

  #blacklistOf (person: Person): string {
    return rows.digested(person, this.digest).entryStream
  }
}

/** As the user of whom there is none. */
const nobody = ''

/** Of calls of persons who were erased before. */
export function lateCallWork (services: Pick<Services, 'pool' | 'streams' | 'positions'>): LateCallWork {
  const { pool, streams } = services
  return {
    pool,
    async users () {
      const users = await rows.findUsersOfLateCalls(pool)
      return (await nobodys(services)).length > 0 ? [...users, nobody] : users
    },
    async callIds (userId, after, most) {
      return await rows.findLateCalls(pool, userId, await nobodys(services), after, most)
    },
    async eraseCall (callId, userId, requestId) {
      const options = { streams, userId, requestId, now: new Date().toISOString() }
      await eraseCall(options, callId, await rows.findReport(pool, callId))
    },
    hasCome: async () => (await areBehind(services)).length === 0,
    scavenge: (requestId) => scavengeFor(services, requestId)
  }
}
