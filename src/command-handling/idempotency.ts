// Safe retries: the same Idempotency-Key gives the same command, the same events and the same answer.
import { createHash, randomUUID } from 'node:crypto'
import type { Pool } from 'pg'
import type { DomainEvent } from '../domain/events.js'
import { Rejection } from '../domain/rejection.js'
import { AppendTooLarge, EventStoreUnavailable } from '../event-store/errors.js'
import { StreamBusy, type CommandHandler, type CommandRequest, type Outcome } from './handle-command.js'

/** What a request with a key is recognised by; without a key every request is a new command. */
export interface Claim {
  userId: string
  method: string
  route: string
  key: string | undefined
  /** With the path: another body under the same key is refused. */
  body: unknown
  path: string
}

/** What belongs to the key: a retry gets the same command id and the same ids. */
export interface Reserved {
  commandId: string
  ids: number[]
  /** An earlier request with this key may have got as far as the log. */
  isRetry: boolean
}

export interface Once<State> extends Outcome<State> {
  ids: number[]
  /** The answer was given before; it is rebuilt as it was then. */
  isReplay: boolean
}

export interface Idempotency {
  /**
   * Handles the command once per key. A key whose command was refused, or certainly not written, is free again; one
   * whose outcome is not known, now or from an earlier try, is kept, and resolved by the next request with it.
   * @throws KeyInFlight, Rejection `invalid` for another body under the same key, and what handling throws
   */
  once<State, Event extends DomainEvent> (
    claim: Claim, takeIds: () => Promise<number[]>, requestFor: (reserved: Reserved) => CommandRequest<State, Event>
  ): Promise<Once<State>>
  /** Removes keys older than 24 hours, in small batches. @returns how many */
  removeExpired (): Promise<number>
}

/** Another request with the same key is being handled. */
export class KeyInFlight extends Error {
  override readonly name = 'KeyInFlight'
}

interface KeyRow {
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

export function openIdempotency (pool: Pool, commands: CommandHandler): Idempotency {
  return {
    async once (claim, takeIds, requestFor) {
      if (claim.key === undefined) {
        const reserved = { commandId: randomUUID(), ids: await takeIds(), isRetry: false }
        return { ...await commands.handle(requestFor(reserved)), ids: reserved.ids, isReplay: false }
      }
      const names = [claim.userId, claim.method, claim.route, claim.key]
      const hash = createHash('sha256').update(claim.path).update('\0').update(JSON.stringify(claim.body) ?? '').digest()
      const proposed = { commandId: randomUUID(), ids: await takeIds() }
      const row = await claimKey(names, hash, proposed)
      if (!row.request_hash.equals(hash)) throw new Rejection('invalid', 'The given data was invalid.', { 'Idempotency-Key': ['was used for another request'] })
      const reserved = { commandId: row.command_id, ids: row.ids.map(Number), isRetry: row.command_id !== proposed.commandId }
      const request = requestFor(reserved)
      if (row.is_committed) return { ...await commands.stateAt(request, BigInt(row.revision ?? -1)), ids: reserved.ids, isReplay: true }
      if (!row.is_mine) throw new KeyInFlight('A request with this Idempotency-Key is being handled: try again in a moment.')
      const outcome = await commands.handle(request).catch(async (error: unknown) => {
        const letGo = isRefusal(error) || (isUnwritten(error) && !reserved.isRetry) ? freeKey : endLease
        await letGo(names, row).catch(() => {}) // then its lease runs out
        throw error
      })
      await commitKey(names, row, request.stream, outcome.revision).catch(() => {}) // the command stands: a retry finds it by its id
      return { ...outcome, ids: reserved.ids, isReplay: outcome.wasHandled === true }
    },

    async removeExpired () {
      for (let removed = 0; ;) {
        const { rowCount } = await pool.query(`
          DELETE FROM ledger.idempotency_keys WHERE ctid IN (
            SELECT ctid FROM ledger.idempotency_keys WHERE created_at < now() - $1 * interval '1 hour' LIMIT $2 FOR UPDATE SKIP LOCKED)`,
        [keepHours, batchSize])
        removed += rowCount ?? 0
        if ((rowCount ?? 0) < batchSize) return removed
      }
    }
  }

  /** The row of the key: made now, taken over from a request that crashed, or somebody's. */
  async function claimKey (names: string[], hash: Buffer, { commandId, ids }: Pick<Reserved, 'commandId' | 'ids'>): Promise<KeyRow> {
    for (;;) {
      const { rows: [mine] } = await pool.query<KeyRow>(`
        INSERT INTO ledger.idempotency_keys AS kept (user_id, method, route, key, request_hash, command_id, ids, leased_until)
        VALUES ($1, $2, $3, $4, $5, $6, $7, clock_timestamp() + $8 * interval '1 s')
        ON CONFLICT (user_id, method, route, key) DO UPDATE SET leased_until = excluded.leased_until
          WHERE kept.committed_at IS NULL AND kept.leased_until < clock_timestamp() AND kept.request_hash = excluded.request_hash
        RETURNING request_hash, command_id, ids, stream, revision, leased_until::text, true AS is_mine, false AS is_committed`,
      [...names, hash, commandId, ids, leaseSeconds])
      if (mine) return mine
      const { rows: [theirs] } = await pool.query<KeyRow>(`
        SELECT request_hash, command_id, ids, stream, revision, leased_until::text, false AS is_mine, committed_at IS NOT NULL AS is_committed
        FROM ledger.idempotency_keys WHERE user_id = $1 AND method = $2 AND route = $3 AND key = $4`, names)
      if (theirs) return theirs // else it was freed between the two statements: claim it again
    }
  }

  async function commitKey (names: string[], { command_id }: KeyRow, stream: string, revision: bigint): Promise<void> {
    await pool.query(`
      UPDATE ledger.idempotency_keys SET stream = $6, revision = $7, committed_at = now() WHERE ${sameKey} AND command_id = $5`,
    [...names, command_id, stream, revision])
  }

  /** Nothing stands under the key. Whoever took it over may not be done. */
  async function freeKey (names: string[], { leased_until }: KeyRow): Promise<void> {
    await pool.query(`DELETE FROM ledger.idempotency_keys WHERE ${sameKey} AND leased_until = $5`, [...names, leased_until])
  }

  /** Something may stand under the key: the next request with it finds out, at once. */
  async function endLease (names: string[], { leased_until }: KeyRow): Promise<void> {
    await pool.query(`UPDATE ledger.idempotency_keys SET leased_until = '-infinity' WHERE ${sameKey} AND leased_until = $5`, [...names, leased_until])
  }
}

const sameKey = 'user_id = $1 AND method = $2 AND route = $3 AND key = $4 AND committed_at IS NULL'

/** The command itself was refused, in full view of what an earlier try had written. */
const isRefusal = (error: unknown) => error instanceof Rejection || error instanceof AppendTooLarge

const isUnwritten = (error: unknown) => error instanceof EventStoreUnavailable || error instanceof StreamBusy
