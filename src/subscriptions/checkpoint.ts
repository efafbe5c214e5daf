// How far a subscription has come. Moving the checkpoint fences off former lease holders, so that they write nothing.
import type { Pool, PoolClient } from 'pg'
import type { Taken } from '../log/follow.js'

/** The checkpoint row has changed since this process last moved it: another process acquired the lease. */
export class Fenced extends Error {
  override readonly name = 'Fenced'
}

/** DDL of a checkpoint table: one row. `table` is a qualified name of ours, never input. */
export function checkpointTable (table: string): string {
  return `
    CREATE TABLE IF NOT EXISTS ${table} (
      only_row   boolean PRIMARY KEY DEFAULT true CHECK (only_row),
      position   bigint NOT NULL DEFAULT 0,
      epoch      bigint NOT NULL DEFAULT 0,
      updated_at timestamptz NOT NULL DEFAULT now(),
      event_id   uuid,
      event_position bigint
    );
    INSERT INTO ${table} DEFAULT VALUES ON CONFLICT DO NOTHING;`
}

/** A checkpoint, and the last event that its consumer has taken, as columns. */
export interface CheckpointRow { position: string, event_id: string | null, event_position: string | null }

export interface Checkpoint {
  position: bigint
  taken: Taken | undefined
}

export const toCheckpoint = ({ position, event_id: id, event_position: at }: CheckpointRow): Checkpoint =>
  ({ position: BigInt(position), taken: id === null ? undefined : { id, position: BigInt(at ?? 0) } })

/** SQL that moves a checkpoint to $1. The id and position of the last event are the parameters after `after` others. */
export const movedSql = (after: number) => `
  position = $1, updated_at = now(), event_id = coalesce($${after + 1}::uuid, event_id),
  event_position = coalesce($${after + 2}::bigint, event_position)`

/**
 * Lets only `epoch` move the checkpoint from now on. @returns where to resume
 * @throws Fenced when a later holder claimed it
 */
export async function claimCheckpoint (pool: Pool, table: string, epoch: bigint): Promise<Checkpoint> {
  const { rows } = await pool.query<CheckpointRow>(
    `UPDATE ${table} SET epoch = $1 WHERE epoch <= $1 RETURNING position, event_id, event_position`, [epoch])
  if (!rows[0]) throw new Fenced(`a later holder claimed ${table}`)
  return toCheckpoint(rows[0])
}

/**
 * Locks the checkpoint until the transaction ends. The update changes the row's xmin, which invalidates the rows that
 * its holder has cached.
 */
export async function touchCheckpoint (tx: PoolClient, table: string): Promise<{ position: bigint, epoch: bigint }> {
  const { rows: [held] } = await tx.query<{ position: string, epoch: string }>(
    `UPDATE ${table} SET position = position RETURNING position, epoch`)
  return { position: BigInt(held?.position ?? 0), epoch: BigInt(held?.epoch ?? 0) }
}

/** Reads the position of a subscription without a claim. Fails when no answer comes within `withinMs`, if given. */
export async function readCheckpoint (db: Pool | PoolClient, table: string, withinMs?: number): Promise<bigint> {
  const query = { text: `SELECT position FROM ${table}`, query_timeout: withinMs }
  const { rows } = await db.query<{ position: string }>(query)
  return BigInt(rows[0]?.position ?? 0)
}
