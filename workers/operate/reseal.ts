// The keys that encrypted stored texts: finds which are still needed, and encrypts anew with the current one.
import type { Pool } from 'pg'
import { inTransaction } from '../../src/postgres/transaction.js'
import { keyId, seal, unseal, type SealedRow, type SecretKeys } from '../../src/privacy/sealed-text.js'
import { noteKeysOfLog, type WalkOptions } from '../../src/privacy/rewrap.js'
import { ownerOfPart } from '../persons/exports.js'

interface KeyLog {
  info (details: object, message: string): void
  warn (details: object, message: string): void
}

interface Place {
  table: string
  /** Finds a row again within a transaction that locks it. */
  key: string
  keyId: string
  sealed: string
  /** What its texts are bound to. */
  owner: string
  /** Sets `keyId` and `sealed` if they are not columns. */
  assign?: string
}

const secrets: Place = { table: 'ledger.webhook_secrets', key: 'id', keyId: 'key_id', sealed: 'sealed', owner: 'user_id' }
/** Users' own headers of webhooks. */
const headers: Place = { table: 'ledger.webhooks', key: 'assistant_id', keyId: 'headers_key_id', sealed: 'headers', owner: 'user_id' }
/** Kept for a day: one whose key is lost is no reason to stop. */
const answers: Place = {
  table: 'ledger.idempotency_keys', key: 'ctid', keyId: 'answer_key_id', sealed: 'answer', owner: 'user_id'
}
/** Kept for a day as well. */
const exports: Place = { ...secrets, table: 'ledger.person_exports', key: 'ctid', owner: ownerOfPart }
/** Of exports and erasures that have not ended. */
const asked: Place = {
  table: 'ledger.work',
  key: 'id',
  keyId: "input ->> 'key_id'",
  sealed: "decode(input ->> 'sealed', 'base64')",
  owner: 'user_id',
  assign: "input = input || jsonb_build_object('key_id', $3::text, 'sealed', anew.sealed)"
}
const others = [headers, answers, exports, asked]
/** Rewrapped in the log, by `resealKeys`; here they are only counted. */
const personKeys = { table: 'ledger.person_keys', keyId: 'wrapped_by' }

/** `previous` may contain the current key, which needs no reseal. */
const formerIds = ({ current, previous }: SecretKeys) => previous.map(keyId).filter((id) => id !== keyId(current))

/** How many texts each key encrypted, by the id of the key. */
async function usedKeys (
  pool: Pool, { table, keyId }: Pick<Place, 'table' | 'keyId'>
): Promise<Map<string, number>> {
  const { rows } = await pool.query<{ id: string, count: number }>(
    `SELECT ${keyId} AS id, count(*)::integer FROM ${table} WHERE ${keyId} IS NOT NULL GROUP BY 1`)
  return new Map(rows.map(({ id, count }) => [id, count]))
}

/** Refuses keys that cannot decrypt what is stored: at the start, not at every delivery. @throws Error */
export async function refuseLostKeys (pool: Pool, { current, previous }: SecretKeys): Promise<void> {
  const known = new Set([current, ...previous].map(keyId))
  const used = await Promise.all([secrets, headers].map((place) => usedKeys(pool, place)))
  if (used.flatMap((counts) => [...counts.keys()]).every((id) => known.has(id))) return
  throw new Error('secrets or headers of webhooks are encrypted with another SECRET_KEY: put the former one into ' +
    'SECRET_KEY_PREVIOUS, which takes several with commas between them')
}

interface NeededKey {
  /** In the list of former keys, from 1. A key itself is never shown. */
  place: number
  texts: number
  /** Keys of persons in the log, as far as the ledger knows them. */
  persons: number
}

/** How much needs each former key. */
export async function neededKeys (pool: Pool, keys: SecretKeys): Promise<NeededKey[]> {
  const { previous } = keys
  if (previous.length === 0) return []
  const former = new Set(formerIds(keys))
  const used = await Promise.all([secrets, ...others].map((place) => usedKeys(pool, place)))
  const ofPersons = await usedKeys(pool, personKeys)
  return previous.map(keyId).map((id, index) => {
    const count = (counts: Map<string, number>) => former.has(id) ? counts.get(id) ?? 0 : 0
    return { place: index + 1, texts: used.reduce((sum, counts) => sum + count(counts), 0), persons: count(ofPersons) }
  })
}

/** Logs which of the former keys are still needed, after it has read the keys of persons in the log. */
export async function tellNeededKeys (
  options: Omit<WalkOptions, 'onProgress'> & { keys: SecretKeys, log: KeyLog }
): Promise<void> {
  const { keys, log, pool, signal } = options
  if (keys.previous.length === 0) return
  try {
    await noteKeysOfLog(options)
    const counted = signal.aborted ? [] : await neededKeys(pool, keys)
    for (const needed of counted) log.info(needed, isNeeded(needed) ? needs : free)
  } catch (err) {
    log.warn({ err }, 'whether keys of SECRET_KEY_PREVIOUS are still needed is not known: the log or Postgres was away')
  }
}

const isNeeded = ({ texts, persons }: NeededKey) => texts + persons > 0
const needs = 'a key of SECRET_KEY_PREVIOUS is still needed: `ringledger secrets reseal` ends that'
const free = 'a key of SECRET_KEY_PREVIOUS is not needed any more'

/**
 * Encrypts with the current key what a former key encrypted, in small batches: a call that broke off goes on when it is
 * repeated. @returns how many texts @throws Error if no key decrypts a secret
 */
export async function reseal (
  { pool, keys, signal, batchSize = 500, onProgress = () => {} }:
  { pool: Pool, keys: SecretKeys, signal?: AbortSignal, batchSize?: number, onProgress? (resealed: number): void }
): Promise<number> {
  await refuseLostKeys(pool, keys)
  let resealed = 0
  for (const place of [secrets, ...others]) {
    for (let size = batchSize; size === batchSize;) {
      signal?.throwIfAborted()
      size = await resealBatch(pool, keys, place, batchSize)
      resealed += size
      onProgress(resealed)
    }
  }
  return resealed
}

/** Call it once the texts in the database and the keys of persons in the log are done. */
export async function noteResealed (pool: Pool, { current }: SecretKeys): Promise<void> {
  await pool.query('UPDATE ledger.this_database SET resealed_with = $1', [keyId(current)])
}

/** Whether the last reseal that was finished used the current key. */
export async function isResealed (pool: Pool, { current }: SecretKeys): Promise<boolean> {
  const { rowCount } = await pool.query('SELECT FROM ledger.this_database WHERE resealed_with = $1', [keyId(current)])
  return rowCount === 1
}

interface StoredRow extends SealedRow { key: string, owner: string }

async function resealBatch (pool: Pool, keys: SecretKeys, place: Place, batchSize: number): Promise<number> {
  const { table, key, keyId: keyColumn, sealed, owner } = place
  const assign = place.assign ?? `${keyColumn} = $3, ${sealed} = decode(anew.sealed, 'base64')`
  return await inTransaction(pool, async (tx) => {
    const { rows } = await tx.query<StoredRow>(`
      SELECT ${key}::text AS key, ${owner} AS owner, ${keyColumn} AS key_id, encode(${sealed}, 'base64') AS sealed FROM ${table}
      WHERE ${keyColumn} = ANY($1) LIMIT $2 FOR UPDATE`, [formerIds(keys), batchSize])
    const anew = rows.map((row) => seal(keys, row.owner, unseal(keys, row.owner, row)))
    await tx.query(`
      UPDATE ${table} SET ${assign} FROM unnest($1::text[], $2::text[]) AS anew (key, sealed) WHERE ${table}.${key}::text = anew.key`,
    [rows.map((row) => row.key), anew.map((row) => row.sealed), keyId(keys.current)])
    return rows.length
  })
}
