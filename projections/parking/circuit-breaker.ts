// Stops a projection that refuses too many streams at once: that is a bug, and no poison event.
import type { Pool, PoolClient } from 'pg'
import { Stopped } from '../../src/subscriptions/run.js'
import type { Projection } from '../engine/projection.js'
import { storable } from './park.js'

/** The first event of a stream that a batch has set aside. */
export interface Refused { stream: string, position: bigint, error: string }

const mostStreams = 10
const within = '1 minute'

/**
 * Pulled, it lets nothing be set aside up to the place where it was pulled: the batch is tried again until nothing of
 * it is refused any more, by mended code or by skips. Released by an operator, it lets everything pass up to there.
 */
export class Brake {
  private constructor (private readonly pool: Pool, private readonly consumer: string, private readonly pulled: { position: bigint, isOn: boolean }) {}

  /** `consumer` names the generation, for instance `read_leads_g1`. */
  static async load (pool: Pool, consumer: string): Promise<Brake> {
    const { rows: [row] } = await pool.query<{ position: string, on: boolean }>('SELECT position, released_at IS NULL AS on FROM ledger.brakes WHERE consumer = $1', [consumer])
    return new Brake(pool, consumer, { position: BigInt(row?.position ?? -1), isOn: row?.on ?? false })
  }

  /** In the transaction of the batch, which ends at `position`. @throws Stopped, also when it is on already */
  async check (tx: PoolClient, position: bigint, refused: Refused[]): Promise<void> {
    const { pulled, consumer } = this
    const again = refused.find((event) => event.position <= pulled.position)
    if (pulled.isOn && again) throw new Stopped(`the brake of ${consumer} is on: ${again.error}`)
    const first = refused.find((event) => event.position > pulled.position)
    const streams = first ? await this.#recentlyRefused(tx) : 0
    if (first && streams > mostStreams) {
      await this.#pull(position, streams, first.error)
      throw new Stopped(`${consumer} has refused ${streams} streams within ${within}, the last one with: ${first.error}`)
    }
    if (pulled.isOn && position >= pulled.position) await tx.query('UPDATE ledger.brakes SET released_at = now() WHERE consumer = $1', [consumer])
  }

  async #recentlyRefused (tx: PoolClient): Promise<number> {
    const { rows } = await tx.query<{ streams: number }>(`
      SELECT count(*)::int AS streams FROM ledger.parked_events first
      WHERE consumer = $1 AND parked_at > now() - $2::interval AND position > $3
        AND NOT EXISTS (SELECT FROM ledger.parked_events earlier WHERE consumer = $1 AND earlier.stream = first.stream AND earlier.revision < first.revision)`,
    [this.consumer, within, this.pulled.position])
    return rows[0]?.streams ?? 0
  }

  /** Beside the transaction, which is rolled back. */
  async #pull (position: bigint, streams: number, error: string): Promise<void> {
    await this.pool.query(`
      INSERT INTO ledger.brakes (consumer, position, streams, error) VALUES ($1, $2, $3, $4)
      ON CONFLICT (consumer) DO UPDATE SET position = excluded.position, streams = excluded.streams, error = excluded.error, stopped_at = now(), released_at = NULL`,
    [this.consumer, position, streams, storable(error)])
  }
}

/** A projection that stands still; `since` is ISO 8601. */
export interface BrakeOn { projection: string, generation: number, streams: number, error: string, since: string }

/** The brakes that are on, of every generation of these projections. */
export async function brakes (db: Pool, projections: readonly Projection[]): Promise<BrakeOn[]> {
  const { rows } = await db.query<{ name: [string, string], streams: number, error: string, since: Date }>(`
    SELECT regexp_match(consumer, '^read_(\\w+)_g(\\d+)$') AS name, streams, error, stopped_at AS since FROM ledger.brakes
    WHERE released_at IS NULL AND substring(consumer FROM '^read_(\\w+)_g\\d+$') = ANY($1) ORDER BY stopped_at`, [projections.map(({ name }) => name)])
  return rows.map(({ name: [projection, generation], since, ...row }) => ({ projection, generation: Number(generation), ...row, since: since.toISOString() }))
}

/** Lets every generation of the projection go on. @returns how many stood still */
export async function releaseBrakes (db: Pool, { name }: Projection): Promise<number> {
  const { rowCount } = await db.query("UPDATE ledger.brakes SET released_at = now() WHERE substring(consumer FROM '^read_(\\w+)_g\\d+$') = $1 AND released_at IS NULL", [name])
  return rowCount ?? 0
}
