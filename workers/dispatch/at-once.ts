// Writes what a batch means in one statement: rows, deliveries and checkpoint, where every call has its endpoint.
import type { Pool } from 'pg'
import type { Batch } from '../../src/event-store/subscribe.js'
import { dispatcherCheckpoint } from '../../src/recovery/database-state.js'
import { endpointKeys, sharedEndpointsSql, type Address } from '../deliveries/endpoints.js'
import { dispatchEvent } from './dispatch-event.js'
import { chunkBytes, insertSql, rowValues, type NewDelivery } from './new-deliveries.js'
import { readEvent, type ReadEvent } from './read-event.js'
import { loadMissing, mostLoaded, TooLarge } from './state/load.js'
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
   * Writes the batch, if nothing of it is malformed, a call that has its row, or a change of a webhook's address.
   * @returns the rows of its calls, or nothing when nothing was written
   */
  async write ({ events, position }: Batch, from: bigint, epoch: bigint): Promise<NewDelivery[] | undefined> {
    const known = this.#known ?? await this.#look()
    this.#known = undefined // until it is written, the state is ahead of the database
    if (!known || from < known.after) return undefined
    const read = events.map(readEvent)
    const deliveries = await this.#fold(known.state, read)
    if (!deliveries) return undefined
    const calls = [...known.state.calls.keys()]
    const version = await this.#save(known.state, deliveries, [position, from, epoch, known.version, calls])
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
    try {
      await loadMissing(this.pool, state, read.flatMap(({ event }) => event ?? []), mostLoaded)
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
    return state.rerouted.size + state.duplicates.length > 0 ? undefined : deliveries
  }

  /** @returns the new version, or nothing when it was not the one that is known any more, or an endpoint is new */
  async #save (state: DispatchState, deliveries: NewDelivery[], moves: unknown[]): Promise<string | undefined> {
    const endpoints = endpointsOf(deliveries)
    const values = [...moves, endpoints.addresses.length, ...endpointKeys(endpoints.addresses)]
    const parts: string[] = []
    const writings = [...changesOf(state), ...deliveries.length > 0 ? [this.#insertion(deliveries, endpoints)] : []]
    for (const { name, text, values: more } of writings) {
      parts.push(`, ${name}_saved AS (${text(values.length, 'moved')})`)
      values.push(...more)
    }
    const { rows: [moved] } = await this.pool.query<{ version: string }>({
      name: ['dispatch', ...writings.map(({ name }) => name)].join('-'),
      text: `${movingSql}${parts.join('')} SELECT version FROM moved`,
      values
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

/** The checkpoint is locked before endpoints are, as in a transaction. */
const movingSql = `
  WITH held AS MATERIALIZED (
    SELECT FROM ${dispatcherCheckpoint} AS checkpoint
    WHERE position = $2 AND epoch = $3 AND checkpoint.xmin = $4::text::xid AND NOT EXISTS (
      SELECT FROM ledger.webhook_deliveries WHERE call_id = ANY($5) AND type = 'call.completed')
    FOR UPDATE
  ), endpoints AS MATERIALIZED (
    ${sharedEndpointsSql(6, 'EXISTS (SELECT FROM held)')} FOR SHARE OF e
  ), moved AS (
    UPDATE ${dispatcherCheckpoint} AS checkpoint SET position = $1, updated_at = now()
    WHERE EXISTS (SELECT FROM held) AND (SELECT count(*) FROM endpoints) = $6
    RETURNING checkpoint.xmin::text AS version
  )`

interface Endpoints {
  addresses: Address[]
  /** Which of them a delivery is for, counted from 1. */
  nthOf: Map<string, number>
}

function endpointsOf (deliveries: NewDelivery[]): Endpoints {
  const addresses: Address[] = []
  const places = new Map<string, number>()
  const nthOf = new Map<string, number>()
  for (const delivery of deliveries) {
    if (!('url' in delivery)) continue
    const { id, user_id, url } = delivery
    const key = JSON.stringify([user_id, url])
    const nth = places.get(key) ?? addresses.push({ user_id, url })
    places.set(key, nth)
    nthOf.set(id, nth)
  }
  return { addresses, nthOf }
}
