// Stops a projection that refuses too many streams at once: that points to a bug, not to bad events.
import type { Pool } from 'pg'
import { Stopped } from '../../src/subscriptions/run.js'
import { allGenerations, schemaOf, type Generation } from './generations.js'
import type { Projection, Refused } from './projection.js'
import { storable } from './writer.js'

const mostStreams = 10
const within = '1 minute'

/**
 * While it is open, no event up to its position may be parked. The batch is retried until nothing in it is refused,
 * because the code was fixed or the events were skipped. Once an operator closes it, events up to its position may be
 * parked.
 */
export class CircuitBreaker {
  readonly #consumer: string
  readonly #position: bigint
  #isOpen: boolean

  constructor (
    private readonly pool: Pool, private readonly projection: Projection, private readonly generation: number,
    breaker?: Generation['breaker']
  ) {
    this.#consumer = schemaOf(projection, generation)
    this.#position = BigInt(breaker?.position ?? -1)
    this.#isOpen = breaker?.openSince != null
  }

  /** Called before `refused`, the first of each stream, are parked; their batch ends at `position`. @throws Stopped */
  async refuse (refused: Refused[], position: bigint): Promise<void> {
    const again = refused.find(({ stored }) => stored.position <= this.#position)
    if (this.#isOpen && again) throw new Stopped(`the circuit breaker of ${this.#consumer} is open: ${again.error}`)
    const more = refused.filter(({ stored }) => stored.position > this.#position)
    const [first] = more
    const streams = first ? more.length + await this.#recentlyRefused() : 0
    if (!first || streams <= mostStreams) return
    await this.#save('breaker_open_since = now(), breaker_position = $3, breaker_streams = $4, breaker_error = $5', [
      position, streams, storable(first.error)
    ])
    throw new Stopped(
      `${this.#consumer} has refused ${streams} streams within ${within}, the last one with: ${first.error}`)
  }

  /** Closes the breaker once a batch that reaches its position was written. */
  async passed (position: bigint): Promise<void> {
    if (!this.#isOpen || position < this.#position) return
    await this.#save('breaker_open_since = NULL', [])
    this.#isOpen = false
  }

  async #recentlyRefused (): Promise<number> {
    const { rows } = await this.pool.query<{ streams: number }>(`
      SELECT count(*)::int AS streams FROM ledger.parked_events first
      WHERE consumer = $1 AND parked_at > now() - $2::interval AND position > $3
        AND NOT EXISTS (
          SELECT FROM ledger.parked_events earlier
          WHERE consumer = $1 AND earlier.stream_digest = first.stream_digest AND earlier.revision < first.revision)`,
    [this.#consumer, within, this.#position])
    return rows[0]?.streams ?? 0
  }

  async #save (changes: string, values: unknown[]): Promise<void> {
    await this.pool.query(`UPDATE ledger.generations SET ${changes} WHERE projection = $1 AND generation = $2`, [
      this.projection.name, this.generation, ...values
    ])
  }
}

/** The generations whose circuit breakers are open. */
export async function openBreakers (db: Pool, projections: readonly Projection[]) {
  return (await allGenerations(db, projections)).flatMap(({ projection, generation, breaker }) => {
    const { openSince, streams, error } = breaker
    return openSince ? { projection: projection.name, generation, streams, error, since: openSince.toISOString() } : []
  })
}

/** Closes the breakers of every generation of the projection. @returns how many were open */
export async function closeBreakers (db: Pool, { name }: Projection): Promise<number> {
  const { rowCount } = await db.query(`
    UPDATE ledger.generations SET breaker_open_since = NULL
    WHERE projection = $1 AND breaker_open_since IS NOT NULL`, [name])
  return rowCount ?? 0
}
