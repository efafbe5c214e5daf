// Safe retries of commands that write no event: their rows, the key and the answer are one transaction.
import { randomUUID } from 'node:crypto'
import { DatabaseError, type Pool, type PoolClient } from 'pg'
import { inTransaction } from '../../postgres/transaction.js'
import { hashOf, KeyInFlight, usedForAnother, type Claim } from './idempotency.js'

/** One transaction of the ledger. */
export type Ledger = PoolClient

export interface LedgerAnswer<Body> {
  status: number
  body: Body
}

/** Answers may hold secrets: at rest they are encrypted, bound to their user. */
export interface Sealing {
  seal (userId: string, text: string): { key_id: string, sealed: string }
  unseal (userId: string, sealed: { key_id: string, sealed: string }): string
}

export interface LedgerCommand<Facts, Body> {
  /** What is needed beforehand, with no transaction open. What it throws leaves the key free. */
  prepare (): Promise<Facts>
  /** The command. What it throws leaves nothing behind, and the key free. */
  write (ledger: Ledger, facts: Facts): Promise<LedgerAnswer<Body>>
}

/** The commit left and no answer came: it was done or not. The same key finds out. */
export class CommitOutcomeUnknown extends Error {
  override readonly name = 'CommitOutcomeUnknown'
}

export interface LedgerCommands {
  /**
   * Runs the command once per key; the same key and body get the first answer again, for 24 hours.
   * @throws KeyInFlight, Rejection `invalid` for another body under the same key, CommitOutcomeUnknown, and what the
   *   command throws
   */
  once<Facts, Body> (
    claim: Claim, command: LedgerCommand<Facts, Body>
  ): Promise<LedgerAnswer<Body> & { isReplay: boolean }>
}

export function openLedgerCommands (pool: Pool, sealing: Sealing): LedgerCommands {
  return {
    async once<Facts, Body> (claim: Claim, { prepare, write }: LedgerCommand<Facts, Body>) {
      if (claim.key === undefined) {
        const facts = await prepare()
        return { ...await committed(pool, (ledger) => write(ledger, facts)), isReplay: false }
      }
      const kept = new KeptAnswer<Body>(claim, claim.key, sealing)
      const given = await kept.find(pool)
      if (given) return { ...given, isReplay: true }
      const facts = await prepare()
      return await committed(pool, async (ledger) => {
        await kept.lock(ledger)
        const meanwhile = await kept.find(ledger)
        if (meanwhile) return { ...meanwhile, isReplay: true }
        const answer = await write(ledger, facts)
        await kept.insert(ledger, answer)
        return { ...answer, isReplay: false }
      })
    }
  }
}

/** What goes wrong before the commit undoes everything; so does what Postgres itself says of the commit. */
async function committed<Result> (pool: Pool, work: (ledger: Ledger) => Promise<Result>): Promise<Result> {
  let isWritten = false
  try {
    return await inTransaction(pool, async (ledger) => {
      const result = await work(ledger)
      isWritten = true
      return result
    })
  } catch (cause) {
    if (!isWritten || cause instanceof DatabaseError) throw cause
    throw new CommitOutcomeUnknown('Postgres did not say whether it committed a command', { cause })
  }
}

const lockSpace = 0x77_6c // any number that nothing else uses for advisory locks with two keys

interface KeptRow { request_hash: Buffer, status: number, key_id: string, sealed: string }

/** The answer of one key. */
class KeptAnswer<Body> {
  readonly #name: string[]
  readonly #hash: Buffer

  constructor (private readonly claim: Claim, key: string, private readonly sealing: Sealing) {
    this.#name = [claim.userId, claim.method, claim.route, key]
    this.#hash = hashOf(claim)
  }

  /** @throws KeyInFlight while another transaction has it */
  async lock (ledger: Ledger): Promise<void> {
    const { rows: [row] } = await ledger.query<{ is_ours: boolean }>(
      'SELECT pg_try_advisory_xact_lock($1, hashtext($2)) AS is_ours', [lockSpace, JSON.stringify(this.#name)])
    if (!row?.is_ours) throw new KeyInFlight()
  }

  /** @throws Rejection `invalid` for another body under the same key */
  async find (db: Pool | Ledger): Promise<LedgerAnswer<Body> | undefined> {
    const { rows: [row] } = await db.query<KeptRow>(`
      SELECT request_hash, answer_status AS status, answer_key_id AS key_id, encode(answer, 'base64') AS sealed
      FROM ledger.idempotency_keys WHERE user_id = $1 AND method = $2 AND route = $3 AND key = $4`, this.#name)
    if (!row) return undefined
    if (!row.request_hash.equals(this.#hash)) throw usedForAnother()
    return { status: row.status, body: JSON.parse(this.sealing.unseal(this.claim.userId, row)) }
  }

  async insert (ledger: Ledger, { status, body }: LedgerAnswer<Body>): Promise<void> {
    const { key_id: keyId, sealed } = this.sealing.seal(this.claim.userId, JSON.stringify(body))
    await ledger.query(`
      INSERT INTO ledger.idempotency_keys (user_id, method, route, key, request_hash, command_id, ids, leased_until,
                                           committed_at, answer_status, answer_key_id, answer)
      VALUES ($1, $2, $3, $4, $5, $6, '{}', now(), now(), $7, $8, decode($9, 'base64'))`,
    [...this.#name, this.#hash, randomUUID(), status, keyId, sealed])
  }
}
