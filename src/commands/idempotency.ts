// Safe retries: a request claims its key with a lease; the key keeps the answer and repeats it for 24 hours.
import { createHash, randomUUID } from 'node:crypto'
import { DatabaseError, type Pool, type PoolClient } from 'pg'
import { canonicalJson } from '../domain/json.js'
import { invalid, Rejection } from '../domain/rejection.js'
import { AppendTooLarge, EventStoreUnavailable } from '../log/errors.js'
import { inTransaction } from '../postgres/transaction.js'
import { seal, type SecretKeys, unseal } from '../privacy/sealed-text.js'
import { StreamBusy } from './handle.js'
import { NotCaughtUp } from './ids.js'

/** Identifies a request. Without a key, every request is a new command. */
export interface Claim {
  userId: string
  method: string
  route: string
  key: string | undefined
  /** Hashed with the path: another body under the same key is refused. */
  body: unknown
  path: string
}

export interface Answer<Body> {
  status: number
  body: Body
  headers?: Record<string, string>
  /** The read model that shows what was written. */
  source?: string | undefined
  /** The command's stream, and those of the persons whom it shows. Erasing one of them drops the answer. */
  about?: string[]
  /** The command appended nothing, so an erasure cannot find it by its id. */
  isUnchanged?: boolean
}

/** What the key reserves. Every try of the command gets the same. */
interface Reservation {
  ids? (): Promise<number[]>
  /** A secret that the answer shows and no event holds. */
  secret? (): string
}

export interface Try {
  commandId: string
  ids: number[]
  secret: string | undefined
  /** An earlier request with this key may have reached the log. */
  isRetry: boolean
  /** Something may be written under the key. A try that fails frees its key only if nothing is. */
  mayBeWritten: boolean
  /** Stores the answer. @throws KeyInFlight when another request has the lease, or an erasure may concern the answer */
  keep (answer: Answer<unknown>, db?: Pool | Ledger): Promise<void>
}

/** One transaction of the ledger. */
type Ledger = PoolClient

/** A command that appends no event: its rows and its answer are one transaction. */
export interface LedgerCommand<Facts, Body> {
  /** Runs before the transaction begins. */
  prepare (): Promise<Facts>
  write (ledger: Ledger, facts: Facts): Promise<Answer<Body>>
}

/** The answer to COMMIT got lost, so it may have happened. A retry with the same key finds out. */
export class CommitOutcomeUnknown extends Error {
  override readonly name = 'CommitOutcomeUnknown'
}

export class KeyInFlight extends Error {
  override readonly name = 'KeyInFlight'
  constructor () {
    super('A request with this Idempotency-Key is being handled: try again in a moment.')
  }
}

/** The sealed part of a row: its secret from the claim on, in the end the answer as well. */
interface Kept<Body> { secret?: string, answer?: Answer<Body> }

interface KeyRow<Body = unknown> {
  name: [userId: string, method: string, route: string, key: string]
  request_hash: Buffer
  command_id: string
  ids: string[]
  /** As Postgres writes it. An update must match it exactly, which proves that the lease is still ours. */
  leased_until: string
  is_mine: boolean
  is_committed: boolean
  key_id: string | null
  sealed: string
  kept: Kept<Body>
}

/** How long a request holds its key; then the next request takes over. */
const leaseSeconds = 10
const keepHours = 24
const batchSize = 1_000

const columns =
  "request_hash, command_id, ids, leased_until::text, answer_key_id AS key_id, encode(answer, 'base64') AS sealed"
const isThis = 'user_id = $1 AND method = $2 AND route = $3 AND key = $4'
const isLeased = `${isThis} AND committed_at IS NULL AND leased_until = $5`

export class Idempotency {
  /** Answers are encrypted at rest, bound to their user: they may hold secrets. */
  constructor (private readonly pool: Pool, private readonly keys: SecretKeys) {}

  /**
   * Runs the command once per key. If it was refused, or certainly wrote nothing, the key is free again. If its outcome
   * is unknown, the key stays, and the next request with it runs the command as a retry.
   * @throws KeyInFlight, Rejection `invalid` for another body under the same key, and what `run` throws
   */
  async once<Body> (
    claim: Claim, reserve: Reservation, run: (tried: Try) => Promise<Answer<Body>>
  ): Promise<Answer<Body> & { isReplay: boolean }> {
    const commandId = randomUUID()
    const secret = reserve.secret?.()
    let notYet: NotCaughtUp | undefined
    const ids = await reserve.ids?.().catch((error: unknown) => {
      if (claim.key === undefined || !(error instanceof NotCaughtUp)) throw error
      notYet = error // a retry has ids already
      return []
    }) ?? []
    if (claim.key === undefined) {
      const keep = async () => {}
      return { ...await run({ commandId, ids, secret, isRetry: false, mayBeWritten: false, keep }), isReplay: false }
    }
    const row = await this.#claim<Body>(claim, claim.key, { commandId, ids, secret })
    const { kept } = row
    if (row.is_committed && kept.answer) return { ...kept.answer, isReplay: true }
    if (!row.is_mine) throw new KeyInFlight()
    const isRetry = row.command_id !== commandId
    const tried: Try = {
      commandId: row.command_id,
      ids: row.ids.map(Number),
      secret: kept.secret,
      isRetry,
      mayBeWritten: isRetry,
      keep: (answer, db = this.pool) => this.#keep(db, row, answer)
    }
    try {
      if (notYet && !isRetry) throw notYet
      return { ...await run(tried), isReplay: false }
    } catch (error) {
      await this.#giveUp(row, tried.mayBeWritten).catch(() => {}) // if this fails, the lease runs out
      throw error
    }
  }

  /** Like `once`, for a ledger command. An error means that nothing was written, except for CommitOutcomeUnknown. */
  async onceInLedger<Facts, Body> (
    claim: Claim, { prepare, write }: LedgerCommand<Facts, Body>
  ): Promise<Answer<Body> & { isReplay: boolean }> {
    return await this.once(claim, {}, async (tried) => {
      tried.mayBeWritten = false // an earlier try has lost its lease, so it cannot commit
      const facts = await prepare()
      let isWritten = false
      try {
        return await inTransaction(this.pool, async (ledger) => {
          const answer = await write(ledger, facts)
          await tried.keep(answer, ledger)
          isWritten = true
          return answer
        })
      } catch (cause) {
        if (!isWritten || cause instanceof DatabaseError) throw cause
        tried.mayBeWritten = true
        throw new CommitOutcomeUnknown('Postgres did not say whether it committed a command', { cause })
      }
    })
  }

  /** Removes keys older than 24 hours in batches. @returns how many */
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

  /**
   * The row of the key: a new one, one taken over from a request that crashed, or another request's.
   * @throws Rejection `invalid` for another body under the same key, and where an erasure emptied the hash
   */
  async #claim<Body> (
    { userId, method, route, path, body }: Claim, key: string,
    { commandId, ids, secret }: Pick<Try, 'commandId' | 'ids' | 'secret'>
  ): Promise<KeyRow<Body>> {
    const name: KeyRow['name'] = [userId, method, route, key]
    const hash = createHash('sha256').update(path).update('\0').update(canonicalJson(body) ?? '').digest()
    const sealed = secret === undefined ? undefined : seal(this.keys, userId, JSON.stringify({ secret }))
    for (;;) {
      const { rows: [mine] } = await this.pool.query<KeyRow>(`
        INSERT INTO ledger.idempotency_keys AS kept
          (user_id, method, route, key, request_hash, command_id, ids, leased_until, answer_key_id, answer)
        VALUES ($1, $2, $3, $4, $5, $6, $7, clock_timestamp() + $8 * interval '1 s', $9, decode($10, 'base64'))
        ON CONFLICT (user_id, method, route, key) DO UPDATE SET leased_until = excluded.leased_until
          WHERE kept.committed_at IS NULL AND kept.leased_until < clock_timestamp()
            AND kept.request_hash = excluded.request_hash
        RETURNING ${columns}, true AS is_mine, false AS is_committed`,
      [...name, hash, commandId, ids, leaseSeconds, sealed?.key_id, sealed?.sealed])
      const row = mine ?? (await this.pool.query<KeyRow>(`
        SELECT ${columns}, false AS is_mine, committed_at IS NOT NULL AS is_committed
        FROM ledger.idempotency_keys WHERE ${isThis}`, name)).rows[0]
      if (!row) continue // another request freed it between the two statements
      if (!row.request_hash.equals(hash)) throw row.request_hash.length === 0 ? erasedSince() : usedForAnother()
      const { key_id } = row
      const text = key_id === null ? '{}' : unseal(this.keys, userId, { key_id, sealed: row.sealed })
      return { ...row, name, kept: JSON.parse(text) }
    }
  }

  async #keep (
    db: Pool | Ledger, { name, leased_until, kept: { secret } }: KeyRow, answer: Answer<unknown>
  ): Promise<void> {
    const { about = [], isUnchanged = false, ...given } = answer
    const { key_id, sealed } = seal(this.keys, name[0], JSON.stringify({ secret, answer: given }))
    const { rowCount } = await db.query(`
      UPDATE ledger.idempotency_keys
      SET committed_at = now(), about = $6, answer_key_id = $8, answer = decode($9, 'base64')
      WHERE ${isLeased} AND request_hash <> '' AND NOT ($7 AND EXISTS (
        SELECT FROM ledger.work WHERE user_id = $1 AND kind = 'person-erasure' AND state = 'accepted'))`,
    [...name, leased_until, about, isUnchanged, key_id, sealed])
    if (rowCount === 0) throw new KeyInFlight()
  }

  /** If something may be written, the row stays for a retry. If another request took over, nothing changes. */
  async #giveUp ({ name, leased_until }: KeyRow, mayBeWritten: boolean): Promise<void> {
    await this.pool.query(mayBeWritten
      ? `UPDATE ledger.idempotency_keys SET leased_until = '-infinity' WHERE ${isLeased}`
      : `DELETE FROM ledger.idempotency_keys WHERE ${isLeased}`, [...name, leased_until])
  }
}

/**
 * Whether a command that failed may have written anything.
 * @param before whether something was written before `decide` ran
 */
export function mayHaveWritten (error: unknown, before: boolean): boolean {
  // The stream was read before the refusal: events of an earlier try would have been found.
  if (error instanceof Rejection || error instanceof AppendTooLarge) return false
  return before || !(error instanceof EventStoreUnavailable || error instanceof StreamBusy)
}

const usedForAnother = () => invalid({ 'Idempotency-Key': ['was used for another request'] })

const erasedSince = () =>
  invalid({ 'Idempotency-Key': ['was used for a request about a person who has been erased since'] })
