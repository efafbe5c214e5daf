// What erasures of persons are worked on with: the log, the read models and the keys.
import type { Pool } from 'pg'
import { calls } from '../../../projections/calls.js'
import { leads } from '../../../projections/leads.js'
import { activeGeneration } from '../../../projections/generations/generations.js'
import { isOnlyGeneration, type LookedThrough } from '../../../projections/operate/only-generation.js'
import { callKeys, digested, leadKeys } from '../../../projections/persons.js'
import * as rows from '../../../projections/persons.js'
import { forgetCommands } from '../../../workers/persons/erasures/forget-answers.js'
import type { ErasureWork } from '../../../workers/persons/erasures/erasures.js'
import type { Person } from '../../../workers/persons/erasures/request.js'
import {
  eraseCall, eraseContacts, eraseEntries, eraseLeads, positionToErase
} from '../../commands/person/erase-streams.js'
import type { ErasingOptions } from '../../commands/person/append-erasing.js'
import type { PhoneHash } from '../../commands/phone-hash.js'
import { leadStream } from '../../features/leads/events.js'
import { keyTrustedMs } from '../../privacy/person-keys.js'
import { abandonedAfter } from '../../../workers/deliveries/attempts/abandoned.js'
import type { CompleteConfig } from '../complete-config.js'
import { digestOfNumbers } from '../digest-of-numbers.js'
import type { Connections } from '../connections.js'
import { areBefore, areBehind, scavengeFor, sources } from './erasing.js'
import { halfKnown, nobodys, parkedOf } from './parked.js'
import { personWork, type WorkOptions } from './person-work.js'

export interface ErasuresOptions extends Omit<WorkOptions, 'connections' | 'sources'> {
  config: WorkOptions['config'] & { webhook: Pick<CompleteConfig['webhook'], 'timeoutMs'> }
  connections: Pick<Connections, 'pool' | 'streams' | 'positions' | 'personKeys'>
}

/** Those that have rows of persons. */
const readModels = [{ projection: leads, keysIn: leadKeys }, { projection: calls, keysIn: callKeys }]

export function erasureWork (options: ErasuresOptions): ErasureWork {
  const { connections: { pool, streams, personKeys } } = options
  const { keys, find, end } = personWork({ ...options, sources })
  const digest = digestOfNumbers(options.config)
  const named = new Named(pool, options.connections, digest)
  const erasing = ({ userId }: Person, requestId: string): ErasingOptions =>
    ({ streams, userId, requestId, now: new Date().toISOString() })
  const erasingNamed = (person: Person, requestId: string): ErasingOptions =>
    ({ ...erasing(person, requestId), forget: (commandIds) => forgetCommands(pool, person.userId, commandIds) })
  return {
    pool,
    keys,
    settleMs: keyTrustedMs,
    abandonedAfterMs: abandonedAfter(options.config.webhook),
    endKey: ({ userId, phoneNumber }) => personKeys.erase(userId, phoneNumber),
    behind: () => areBehind(options.connections),
    parked: (person, requestId) => parkedOf(options.connections, person, {
      streams: () => named.allStreams(person), leadIds: () => named.leadIds(person)
    }, requestId),
    generations: () => Promise.all(readModels.map(({ projection }) => activeGeneration(pool, projection))),
    areOnlyIn: async (generations, { userId, phoneNumber }, leadIds, signal) => await areOnly(pool, generations,
      { position: await streams.head(), values: [userId, phoneNumber, leadIds], signal }),
    leadIds: (person) => named.leadIds(person),
    eraseNamed: (person, leadIds, requestId) => named.erase(person, leadIds, erasingNamed(person, requestId)),
    async callIds (person, leadIds, after, most) {
      const others = await halfKnown({ pool, streams }, person, leadIds)
      return await rows.findCallIds(
        pool, person, { leadIds, nobodys: await nobodys({ pool, streams }), others }, after, most)
    },
    async eraseCall (callId, person, requestId) {
      await eraseCall(erasing(person, requestId), callId, await rows.findReport(pool, callId))
    },
    streamsOf: (person) => named.streamsOf(person),
    isOf: async (id, { phoneNumber }) => (await find(id))?.request.number_digest === digest(phoneNumber),
    hasErased: (userId, callIds) => rows.hasErased(pool, userId, callIds),
    scavenge: (requestId) => scavengeFor({ streams, pool }, requestId),
    find: async (id) => (await find(id))?.request,
    end: (id, isDone) => end(id, isDone),
    log: options.log
  }
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
    private readonly pool: Pool, private readonly connections: ErasuresOptions['connections'],
    private readonly digest: PhoneHash
  ) {}

  async streamsOf (person: Person): Promise<string[]> {
    const leads = await this.#leadStreams(person)
    return [this.#blacklistOf(person), ...leads.map(({ stream }) => stream)]
  }

  /** Also of leads that have the person as a contact. */
  async allStreams (person: Person): Promise<string[]> {
    const contacts = await rows.findContacts(this.pool, digested(person, this.digest))
    return [...await this.streamsOf(person), ...contacts.map(({ stream }) => stream)]
  }

  async leadIds (person: Person): Promise<number[]> {
    return await rows.findLeadIds(this.pool, digested(person, this.digest), await this.streamsOf(person))
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
    for (const { stream, ...contacts } of await rows.findContacts(this.pool, digested(person, this.digest))) {
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
    if ((await areBefore(this.connections.positions, ['leads', 'calls'], position)).length === 0) return
    throw new Error('the read models of leads and calls are behind the log')
  }

  async #leadStreams (person: Person): Promise<Array<{ stream: string, campaignId: number }>> {
    const ids = await rows.findCampaignIds(this.pool, person)
    return ids.map((campaignId) => ({ campaignId, stream: leadStream(campaignId, this.digest(person.phoneNumber)) }))
  }

  #blacklistOf (person: Person): string {
    return digested(person, this.digest).entryStream
  }
}
