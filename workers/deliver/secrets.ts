// Signing secrets at rest: one per user, encrypted so that a copy of the database signs nothing.
import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto'
import type { Pool, PoolClient } from 'pg'
import { inTransaction } from '../../src/postgres/transaction.js'
import type { SealedRow } from '../deliveries/attempts.js'
import { newSecret } from './sign.js'

/** Keys of 32 bytes: the current one encrypts, all of them decrypt. */
export interface SecretKeys {
  current: Buffer
  previous: readonly Buffer[]
}

const nonceBytes = 12
const tagBytes = 16
const overlap = '24 hours'
const mostFormer = 2
const lockSpace = 0x77_6a // any number that nothing else uses for advisory locks with two keys

/** Names a key without revealing it. */
export const keyId = (key: Buffer) =>
  createHash('sha256').update('ringledger secret key').update(key).digest('hex').slice(0, 16)

/** Encrypts `secret` with AES-256-GCM, bound to its user so that rows cannot be swapped. */
export function seal ({ current }: SecretKeys, userId: string, secret: string): SealedRow {
  const nonce = randomBytes(nonceBytes)
  const cipher = createCipheriv('aes-256-gcm', current, nonce).setAAD(Buffer.from(userId))
  const text = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()])
  return { key_id: keyId(current), sealed: Buffer.concat([nonce, cipher.getAuthTag(), text]).toString('base64') }
}

/** @throws Error when no key fits or the row was tampered with */
export function unseal ({ current, previous }: SecretKeys, userId: string, { key_id, sealed }: SealedRow): string {
  const key = [current, ...previous].find((candidate) => keyId(candidate) === key_id)
  if (!key) throw new Error(`no key ${key_id}: SECRET_KEY_PREVIOUS must list every key that encrypted a webhook secret`)
  const bytes = Buffer.from(sealed, 'base64')
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, nonceBytes)).setAAD(Buffer.from(userId))
  decipher.setAuthTag(bytes.subarray(nonceBytes, nonceBytes + tagBytes))
  return decipher.update(bytes.subarray(nonceBytes + tagBytes), undefined, 'utf8') + decipher.final('utf8')
}

/** The user's current secret, made now when there is none; concurrent callers get the same one. */
export async function currentSecret (pool: Pool, keys: SecretKeys, userId: string): Promise<string> {
  const { key_id, sealed } = seal(keys, userId, newSecret())
  await pool.query(`
    INSERT INTO ledger.webhook_secrets (user_id, key_id, sealed) VALUES ($1, $2, decode($3, 'base64'))
    ON CONFLICT (user_id) WHERE expires_at IS NULL DO NOTHING`, [userId, key_id, sealed])
  const { rows: [row] } = await pool.query<SealedRow>(`
    SELECT key_id, encode(sealed, 'base64') AS sealed FROM ledger.webhook_secrets
    WHERE user_id = $1 AND expires_at IS NULL`, [userId])
  if (!row) throw new Error('the webhook secret was removed while it was read')
  return unseal(keys, userId, row)
}

export interface UserSecrets { secret: string, previous: { secret: string, expires_at: string } | null }

/** What verifies the user's webhooks: the current secret, and the one before it while that still signs. */
export async function userSecrets (pool: Pool, keys: SecretKeys, userId: string): Promise<UserSecrets> {
  const secret = await currentSecret(pool, keys, userId)
  const { rows: [former] } = await pool.query<SealedRow & { expires_at: Date }>(`
    SELECT key_id, encode(sealed, 'base64') AS sealed, expires_at FROM ledger.webhook_secrets
    WHERE user_id = $1 AND expires_at > now() ORDER BY id DESC LIMIT 1`, [userId])
  if (!former) return { secret, previous: null }
  return { secret, previous: { secret: unseal(keys, userId, former), expires_at: former.expires_at.toISOString() } }
}

/**
 * Makes a new secret current; the former one signs for 24 hours more. A second rotation within that time does not end
 * that: each former secret signs for its own 24 hours, so that no receiver breaks that has one of them.
 * @returns nothing when two former secrets sign already: more signatures would only make requests longer
 */
export async function rotateSecret (pool: Pool, keys: SecretKeys, userId: string): Promise<UserSecrets | undefined> {
  await currentSecret(pool, keys, userId)
  const isRotated = await inTransaction(pool, async (tx) => {
    await tx.query('SELECT pg_advisory_xact_lock($1, hashtext($2))', [lockSpace, userId])
    if (await countFormer(tx, userId) >= mostFormer) return false
    await replaceCurrent(tx, userId, seal(keys, userId, newSecret()))
    return true
  })
  return isRotated ? await userSecrets(pool, keys, userId) : undefined
}

async function countFormer (tx: PoolClient, userId: string): Promise<number> {
  const { rows: [former] } = await tx.query<{ count: number }>(
    'SELECT count(*)::integer FROM ledger.webhook_secrets WHERE user_id = $1 AND expires_at > now()', [userId])
  return former?.count ?? 0
}

async function replaceCurrent (tx: PoolClient, userId: string, { key_id, sealed }: SealedRow): Promise<void> {
  await tx.query(`
    UPDATE ledger.webhook_secrets SET expires_at = now() + interval '${overlap}'
    WHERE user_id = $1 AND expires_at IS NULL`, [userId])
  await tx.query(`
    INSERT INTO ledger.webhook_secrets (user_id, key_id, sealed)
    VALUES ($1, $2, decode($3, 'base64'))`, [userId, key_id, sealed])
}

/** Refuses keys that cannot decrypt what is stored: at the start, not at every delivery. @throws Error */
export async function refuseLostKeys (pool: Pool, { current, previous }: SecretKeys): Promise<void> {
  const { rows } = await pool.query<{ key_id: string }>('SELECT DISTINCT key_id FROM ledger.webhook_secrets')
  const known = new Set([current, ...previous].map(keyId))
  if (rows.every(({ key_id }) => known.has(key_id))) return
  throw new Error('webhook secrets are encrypted with another SECRET_KEY: put the former one into SECRET_KEY_PREVIOUS')
}
