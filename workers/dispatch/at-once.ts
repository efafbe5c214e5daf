// Writes what a batch means in one statement: rows, deliveries and checkpoint, where every call has its endpoint.
import type { Pool } from 'pg'
import type { Batch } from '../../src/log/follow.js'
import { isTaken } from '../../src/postgres/problems/about-data.js'
import { dispatcherCheckpoint } from '../../src/recovery/database-state.js'
import { endpointKeys } from '../deliveries/endpoints.js'
import type { FreshBodies } from '../deliveries/fresh-bodies.js'
import { acquireValues, toGiven, type Given, type GivenRow } from '../queue/slots.js'
import { dispatchEvent } from './dispatch-event.js'
import { endpointsOf, movingSql, movingWithCallsSql, slotsSql, type Endpoints, type GiveSlots } from './move.js'
import { chunkBytes, insertSql, rowValues, type NewDelivery } from './new-deliveries.js'
import { readEvent, type ReadEvent } from './read-event.js'
import { loadMissing, mostLoaded, TooLarge } from './state/load.js'
import { presumeAbsent } from './state/named-rows.js'
import { changesOf, type Writing } from './state/save.js'
import { DispatchState } from './state/state.js'

/** For rows that calls read again and again, in bytes. */
const budgetBytes = 8 * 2 ** 20
/** Of so many users what is due gets slots in one statement. */
const usersAtOnce = 100

/**
 * What the process knows of the dispatch state as of one version of the checkpoint row, which everybody changes who
 * changes anything beside it. A statement that finds another version writes nothing.
 */
interface Known { version: string, state: DispatchState, after: bigint }

/** The rows of a batch's calls; `given`: the slots that they got along with them, where they were to. */
export interface WrittenAtOnce { deliveries: NewDelivery[], given?: Given | undefined }

export interface AtOnceOptions {
  pool: Pool
  /** Wait before the first attempt, in milliseconds. */
  firstDelayMs: number
  /** Gets what was given slots with its row, where nothing else is to be queued; nothing is when absent. */
  giveSlots?: GiveSlots | undefined
  /** Gets the bodies of what may be sent at once. */
  fresh?: FreshBodies | undefined
}

interface Saved { version: string, given?: Given | undefined }

export class AtOnce {
  #known: Known | undefined

  constructor (private readonly options: AtOnceOptions) {}

  /**
   * Writes the batch, if nothing of it is malformed, a call that has its row or is erased, or a webhook's new
   * address, and what it creates is new.
   * @returns nothing when nothing was written
   */
  async write ({ events, position }: Batch, from: bigint, epoch: bigint): Promise<WrittenAtOnce | undefined> {
    const known = this.#known ?? await this.#look()
    this.#known = undefined // until it is written, the state is ahead of the database
    if (!known || from < known.after) return undefined
    const read = events.map(readEvent)
    const deliveries = await this.#fold(known.state, read)
    if (!deliveries) return undefined
    const saved = await this.#save(known.state, deliveries, [position, from, epoch, known.version])
    if (!saved) return undefined
    known.state.written(budgetBytes)
    this.#known = { ...known, version: saved.version }
    this.#keepBodies(deliveries)
    return { deliveries, given: saved.given }
  }

  /** After a restore, what the log says again is not acted on in the same way. */
  async #look (): Promise<Known | undefined> {
    const { rows: [found] } = await this.options.pool.query<{ version: string, after: string }>(`
      SELECT checkpoint.xmin::text AS version, greatest(skip_until, reread_until) AS after
      FROM ${dispatcherCheckpoint} AS checkpoint CROSS JOIN ledger.this_database`)
    return found && { version: found.version, after: BigInt(found.after), state: new DispatchState() }
  }

  async #fold (state: DispatchState, read: ReadEvent[]): Promise<NewDelivery[] | undefined> {
    if (read.some(({ problem }) => problem !== undefined)) return undefined
    const events = read.flatMap(({ event }) => event ?? [])
    presumeAbsent(state, events)
    try {
      await loadMissing(this.options.pool, state, events, mostLoaded)
    } catch (error) {
      if (error instanceof TooLarge) return undefined
      throw error
    }
    const deliveries: NewDelivery[] = []
    let bytes = 0
    for (const each of read) {
      const { added, parkedFor } = dispatchEvent(state, each)
      for (const delivery of added) bytes += 'body' in delivery ? delivery.body.length : 0
      if (parkedFor !== undefined || bytes > chunkBytes) return undefined
      deliveries.push(...added)
    }
    return state.rerouted.size + state.duplicates.length + state.erased.size > 0 ? undefined : deliveries
  }

  /** @returns nothing when the version was not the known one, an endpoint is new, or what is inserted is there */
  async #save (state: DispatchState, deliveries: NewDelivery[], moves: unknown[]): Promise<Saved | undefined> {
    const calls = [...state.calls.keys()]
    const endpoints = endpointsOf(deliveries)
    const values = [...moves]
    if (calls.length > 0) values.push(calls, endpoints.addresses.length, ...endpointKeys(endpoints.addresses))
    const parts: string[] = []
    const writings = [...changesOf(state), ...deliveries.length > 0 ? [this.#insertion(deliveries, endpoints)] : []]
    for (const { name, text, values: more } of writings) {
      parts.push(`, ${name}_saved AS (${text(values.length, 'moved')})`)
      values.push(...more)
    }
    const gives = this.#givesSlots(endpoints)
    const end = gives ? slotsSql(values.length) : 'SELECT version FROM moved'
    const { rows } = await this.options.pool.query<GivenRow & { version: string }>({
      name: [gives ? 'slots' : 'dispatch', ...calls.length > 0 ? ['calls'] : [], ...writings.map(shortly)].join('-'),
      text: `${calls.length > 0 ? movingWithCallsSql : movingSql}${parts.join('')} ${end}`,
      values: gives ? [...values, ...acquireValues] : values
    }).catch((error: unknown) => {
      if (isTaken(error)) return { rows: [] }
      throw error
    })
    const [moved] = rows
    return moved && { version: moved.version, ...gives && { given: toGiven(rows.filter(({ id }) => id !== null)) } }
  }

  /** Where nobody waits for slots, what is due at once gets them with its row: another statement would only do that. */
  #givesSlots ({ addresses }: Endpoints): boolean {
    const { firstDelayMs, giveSlots } = this.options
    const users = new Set(addresses.map(({ user_id }) => user_id)).size
    return firstDelayMs === 0 && users > 0 && users <= usersAtOnce && (giveSlots?.isIdle ?? false)
  }

  #keepBodies (deliveries: NewDelivery[]): void {
    const { firstDelayMs, fresh } = this.options
    if (firstDelayMs > 0 || !fresh) return
    for (const each of deliveries) if ('url' in each && each.skipped === undefined) fresh.keep(each.id, each.body)
  }

  #insertion (deliveries: NewDelivery[], { nthOf }: Endpoints): Writing {
    const found = { relation: 'endpoints', key: 'nth', condition: 'moved,' }
    return {
      name: 'deliveries',
      text: (after) => `${insertSql(after, found)} RETURNING id, user_id, status`,
      values: rowValues(deliveries, (id) => nthOf.get(id) ?? null, this.options.firstDelayMs)
    }
  }
}

/** Postgres cuts the names of prepared statements after 63 bytes. */
const shortly = ({ name }: Writing) => name.replace(/^new_/, '+').slice(0, 3)
