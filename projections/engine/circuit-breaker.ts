// Stops a projection that refuses too many streams at once: that points to a bug, not to bad events.
import type { Pool } from 'pg'
import { Stopped } from '../../src/subscriptions/run.js'
import { storable } from './writer.js'
import type { Projection, Refused } from './projection.js'

const mostStreams = 10
const within = '1 minute'

interface Opened { position: bigint, isOpen: boolean }

/**
 * While it is open, no event up to its position may be parked. The batch is retried until nothing in it is refused,
 * because the code was fixed or the events were skipped. Once an operator closes it, events up to its position may be
 * parked.
 */
export class CircuitBreaker {
  private constructor (
    private readonly pool: Pool, private readonly consumer: string, private readonly opened: Opened) {}

  /** `consumer` names the generation, for instance `read_leads_g1`. */
  static async load (pool: Pool, consumer: string): Promise<CircuitBreaker> {
    const { rows: [row] } = await pool.query<{ position: string, isOpen: boolean }>(
      'SELECT position, closed_at IS NULL AS "isOpen" FROM ledger.circuit_breakers WHERE consumer = $1', [consumer])
    return new CircuitBreaker(pool, consumer, { position: BigInt(row?.position ?? -1), isOpen: row?.isOpen ?? false })
  }

  /** Called before `refused`, the first of each stream, are parked; their batch ends at `position`. @throws Stopped */
  async refuse (refused: Refused[], position: bigint): Promise<void> {
    const { opened, consumer } = this
    const again = refused.find(({ stored }) => stored.position <= opened.position)
    if (opened.isOpen && again) throw new Stopped(`the circuit breaker of ${consumer} is open: ${again.error}`)
    const more = refused.filter(({ stored }) => stored.position > opened.position)
    const [first] = more
    const streams = first ? more.length + await this.#recentlyRefused() : 0
    if (!first || streams <= mostStreams) return
    await this.#open(position, streams, first.error)
    throw new Stopped(
      `${consumer} has refused ${streams} streams within ${within}, the last one with: ${first.error}`)
  }

  /** Closes the breaker once a batch that reaches its position was written. */
  async passed (position: bigint): Promise<void> {
    const { opened, consumer, pool } = this
    if (!opened.isOpen || position < opened.position) return
    await pool.query('UPDATE ledger.circuit_breakers SET closed_at = now() WHERE consumer = $1', [consumer])
    opened.isOpen = false
  }

  async #recentlyRefused (): Promise<number> {
    const { rows } = await this.pool.query<{ streams: number }>(`
      SELECT count(*)::int AS streams FROM ledger.parked_events first
      WHERE consumer = $1 AND parked_at > now() - $2::interval AND position > $3
        AND NOT EXISTS (
          SELECT FROM ledger.parked_events earlier
          WHERE consumer = $1 AND earlier.stream_digest = first.stream_digest AND earlier.revision < first.revision)`,
    [this.consumer, within, this.opened.position])
    return rows[0]?.streams ?? 0
  }

  async #open (position: bigint, streams: number, error: string): Promise<void> {
    await this.pool.query(`
      INSERT INTO ledger.circuit_breakers (consumer, position, streams, error) VALUES ($1, $2, $3, $4)
      ON CONFLICT (consumer) DO UPDATE SET
        position = excluded.position, streams = excluded.streams, error = excluded.error,
        opened_at = now(), closed_at = NULL`,
    [this.consumer, position, streams, storable(error)])
  }
}

/** A generation whose circuit breaker is open; `since` is ISO 8601. */
export interface OpenBreaker { projection: string, generation: number, streams: number, error: string, since: string }

export async function openBreakers (db: Pool, projections: readonly Projection[]): Promise<OpenBreaker[]> {
  const { rows } = await db.query<{ name: [string, string], streams: number, error: string, since: Date }>(`
    SELECT regexp_match(consumer, '^read_(\\w+)_g(\\d+)$') AS name, streams, error, opened_at AS since
    FROM ledger.circuit_breakers
    WHERE closed_at IS NULL AND substring(consumer FROM '^read_(\\w+)_g\\d+$') = ANY($1)
    ORDER BY opened_at`, [projections.map(({ name }) => name)])
  return rows.map(({ name: [projection, generation], since, ...row }) => (
    { projection, generation: Number(generation), ...row, since: since.toISOString() }))
}

/** Closes the breakers of every generation of the projection. @returns how many were open */
export async function closeBreakers (db: Pool, { name }: Projection): Promise<number> {
  const { rowCount } = await db.query(`
    UPDATE ledger.circuit_breakers SET closed_at = now()
    WHERE substring(consumer FROM '^read_(\\w+)_g\\d+$') = $1 AND closed_at IS NULL`, [name])
  return rowCount ?? 0
}
