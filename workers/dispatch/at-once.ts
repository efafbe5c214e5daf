// Writes what a batch means in one statement: rows, deliveries and checkpoint, where every call has its endpoint.
import type { Pool } from 'pg'
import type { Batch } from '../../src/event-store/reads/batch.js'
import { isTaken } from '../../src/postgres/problems/about-data.js'
import { dispatcherCheckpoint } from '../../src/recovery/database-state.js'
import { endpointKeys } from '../deliveries/endpoints.js'
import { dispatchEvent } from './dispatch-event.js'
import { endpointsOf, movingSql, movingWithCallsSql, type Endpoints } from './move.js'
import { chunkBytes, insertSql, rowValues, type NewDelivery } from './new-deliveries.js'
import { readEvent, type ReadEvent } from './read-event.js'
import { loadMissing, mostLoaded, TooLarge } from './state/load.js'
import { presumeAbsent } from './state/named-rows.js'
import { changesOf, type Writing } from './state/save.js'
import { DispatchState } from './state/state.js'

/** For rows that calls read again and again, in bytes. */
const budgetBytes = 8 * 2 ** 20

/**
 * What the process knows of the dispatch state as of one version of the checkpoint row, which everybody changes who
 * changes anything beside it. A statement that finds another version writes nothing.
 */
interface Known { version: string, state: DispatchState, after: bigint }

export class AtOnce {
  #known: Known | undefined

  constructor (private readonly pool: Pool, private readonly firstDelayMs: number) {}

  /**
   * Writes the batch, if nothing of it is malformed, a call that has its row or is erased, or a webhook's new address,
   * and what it creates is new.
   * @returns the rows of its calls, or nothing when nothing was written
   */
  async write ({ events, position }: Batch, from: bigint, epoch: bigint): Promise<NewDelivery[] | undefined> {
    const known = this.#known ?? await this.#look()
    this.#known = undefined // until it is written, the state is ahead of the database
    if (!known || from < known.after) return undefined
    const read = events.map(readEvent)
    const deliveries = await this.#fold(known.state, read)
    if (!deliveries) return undefined
    const version = await this.#save(known.state, deliveries, [position, from, epoch, known.version])
    if (version === undefined) return undefined
    known.state.written(budgetBytes)
    this.#known = { ...known, version }
    return deliveries
  }

  /** After a restore, what the log says again is not acted on in the same way. */
  async #look (): Promise<Known | undefined> {
    const { rows: [found] } = await this.pool.query<{ version: string, after: string }>(`
      SELECT checkpoint.xmin::text AS version, greatest(skip_until, reread_until) AS after
      FROM ${dispatcherCheckpoint} AS checkpoint CROSS JOIN ledger.this_database`)
    return found && { version: found.version, after: BigInt(found.after), state: new DispatchState() }
  }

  async #fold (state: DispatchState, read: ReadEvent[]): Promise<NewDelivery[] | undefined> {
    if (read.some(({ problem }) => problem !== undefined)) return undefined
    const events = read.flatMap(({ event }) => event ?? [])
    presumeAbsent(state, events)
    try {
      await loadMissing(this.pool, state, events, mostLoaded)
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

  /**
   * @returns the new version, or nothing when it was not the one that is known any more, an endpoint is new, or what is
   *   inserted is there
   */
  async #save (state: DispatchState, deliveries: NewDelivery[], moves: unknown[]): Promise<string | undefined> {
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
    const { rows: [moved] } = await this.pool.query<{ version: string }>({
      name: [calls.length > 0 ? 'dispatch-calls' : 'dispatch', ...writings.map(shortly)].join('-'),
      text: `${calls.length > 0 ? movingWithCallsSql : movingSql}${parts.join('')} SELECT version FROM moved`,
      values
    }).catch((error: unknown) => {
      if (isTaken(error)) return { rows: [] }
      throw error
    })
    return moved?.version
  }

  #insertion (deliveries: NewDelivery[], { nthOf }: Endpoints): Writing {
    const found = { relation: 'endpoints', key: 'nth', condition: 'moved,' }
    return {
      name: 'deliveries',
      text: (after) => insertSql(after, found),
      values: rowValues(deliveries, (id) => nthOf.get(id) ?? null, this.firstDelayMs)
    }
  }
}

/** Postgres cuts the names of prepared statements after 63 bytes. */
const shortly = ({ name }: Writing) => name.replace(/^new_/, '+').slice(0, 3)
