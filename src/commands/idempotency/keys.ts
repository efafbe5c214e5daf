// The rows of idempotency keys: claimed by one request at a time, and committed once.
import type { Pool } from 'pg'

/** User, method, route and key. */
export type KeyName = [userId: string, method: string, route: string, key: string]

export interface KeyRow {
  name: KeyName
  request_hash: Buffer
  command_id: string
  ids: string[]
  stream: string | null
  revision: string | null
  /** What the lease was given, as the database writes it: proof that it is still ours. */
  leased_until: string
  is_mine: boolean
  is_committed: boolean
}

const leaseSeconds = 10
const keepHours = 24
const batchSize = 1_000

const columns = 'request_hash, command_id, ids, stream, revision, leased_until::text'
const isThis = 'user_id = $1 AND method = $2 AND route = $3 AND key = $4'
const isOpen = `${isThis} AND committed_at IS NULL`

export class IdempotencyKeys {
  constructor (private readonly pool: Pool) {}

  /** The row of the key: made now, taken over from a request that crashed, or another request's. */
  async claim (name: KeyName, hash: Buffer, proposed: { commandId: string, ids: number[] }): Promise<KeyRow> {
    for (;;) {
      const mine = await this.#insert(name, hash, proposed)
      if (mine) return { name, ...mine }
      const { rows: [theirs] } = await this.pool.query<Omit<KeyRow, 'name'>>(`
        SELECT ${columns}, false AS is_mine, committed_at IS NOT NULL AS is_committed
        FROM ledger.idempotency_keys WHERE ${isThis}`, name)
      if (theirs) return { name, ...theirs } // else it was freed between the two statements: claim it again
    }
  }

  async commit ({ name, command_id }: KeyRow, stream: string, revision: bigint): Promise<void> {
    await this.pool.query(`
      UPDATE ledger.idempotency_keys SET stream = $6, revision = $7, committed_at = now()
      WHERE ${isOpen} AND command_id = $5`, [...name, command_id, stream, revision])
  }

  /** Nothing was written under the key. A request that took it over may be at work: then it has another lease. */
  async free ({ name, leased_until }: KeyRow): Promise<void> {
    await this.pool.query(
      `DELETE FROM ledger.idempotency_keys WHERE ${isOpen} AND leased_until = $5`, [...name, leased_until])
  }

  /** Something may have been written under the key: the next request with it finds out, at once. */
  async endLease ({ name, leased_until }: KeyRow): Promise<void> {
    await this.pool.query(`
      UPDATE ledger.idempotency_keys SET leased_until = '-infinity'
      WHERE ${isOpen} AND leased_until = $5`, [...name, leased_until])
  }

  /** Removes keys older than 24 hours, in small batches. @returns how many */
  async removeExpired (): Promise<number> {
    for (let removed = 0; ;) {
      const { rowCount } = await this.pool.query(`
        DELETE FROM ledger.idempotency_keys WHERE ctid IN (
          SELECT ctid FROM ledger.idempotency_keys WHERE created_at < now() - $1 * interval '1 hour'
          LIMIT $2 FOR UPDATE SKIP LOCKED)`, [keepHours, batchSize])
      removed += rowCount ?? 0
      if ((rowCount ?? 0) < batchSize) return removed
    }
  }

  /** Nothing when another request has the key, or another body was sent with it. */
  async #insert (name: KeyName, hash: Buffer, { commandId, ids }: { commandId: string, ids: number[] }) {
    const { rows: [mine] } = await this.pool.query<Omit<KeyRow, 'name'>>(`
      INSERT INTO ledger.idempotency_keys AS kept
        (user_id, method, route, key, request_hash, command_id, ids, leased_until)
      VALUES ($1, $2, $3, $4, $5, $6, $7, clock_timestamp() + $8 * interval '1 s')
      ON CONFLICT (user_id, method, route, key) DO UPDATE SET leased_until = excluded.leased_until
        WHERE kept.committed_at IS NULL AND kept.leased_until < clock_timestamp()
          AND kept.request_hash = excluded.request_hash
      RETURNING ${columns}, true AS is_mine, false AS is_committed`, [...name, hash, commandId, ids, leaseSeconds])
    return mine
  }
}
