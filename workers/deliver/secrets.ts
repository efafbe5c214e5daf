// Signing secrets: one per user, and one of its own for each assistant that asked for it.
import type { Pool, PoolClient } from 'pg'
import { seal, unseal, type SealedRow, type SecretKeys } from '../../src/privacy/sealed-text.js'
import { newSecret } from './sign.js'

/** Whose secrets: those of an assistant, or without one the user's. */
export interface SecretOwner {
  userId: string
  assistantId?: number | undefined
}

export interface Secrets { secret: string, previous: { secret: string, expires_at: string } | null }

/** `own`: whether it is the assistant's, and not that of its user. */
export interface AssistantSecrets extends Secrets { own: boolean }

type Database = Pool | PoolClient

const mostFormer = 2
const defaultOverlapHours = 24
const lockSpace = 0x77_6a // any number that nothing else uses for advisory locks with two keys

/** The user's current secret, made now when there is none; concurrent callers get the same one. */
export async function currentSecret (db: Database, keys: SecretKeys, userId: string): Promise<string> {
  const { key_id, sealed } = seal(keys, userId, newSecret())
  await db.query(`
    INSERT INTO ledger.webhook_secrets (user_id, key_id, sealed) VALUES ($1, $2, decode($3, 'base64'))
    ON CONFLICT DO NOTHING`, [userId, key_id, sealed])
  const current = await findCurrent(db, keys, { userId })
  if (current === undefined) throw new Error('the webhook secret was removed while it was read')
  return current
}

/** What verifies the user's webhooks: the current secret, and the one before it while that still signs. */
export async function userSecrets (db: Database, keys: SecretKeys, userId: string): Promise<Secrets> {
  const secret = await currentSecret(db, keys, userId)
  return { secret, previous: await findFormer(db, keys, { userId }) ?? null }
}

/** What verifies the webhooks of the user's assistant: its own secrets, or else the user's. */
export async function assistantSecrets (
  db: Database, keys: SecretKeys, userId: string, assistantId: number
): Promise<AssistantSecrets> {
  const owner = { userId, assistantId }
  const secret = await findCurrent(db, keys, owner)
  const former = await findFormer(db, keys, owner)
  const users = await userSecrets(db, keys, userId)
  if (secret === undefined) return { ...users, previous: former ?? users.previous, own: false }
  const beside = await besideUsers(db, owner)
  const usersToo = beside && { secret: users.secret, expires_at: beside.until.toISOString() }
  return { secret, previous: (beside?.isInherited ? former : usersToo) ?? former ?? null, own: true }
}

/**
 * Makes a new secret of the user current; what signed before signs on for so many hours, and with 0 not once more. A
 * second rotation within that time does not end that: each former secret signs for its own time, so that no receiver
 * breaks that has one of them.
 * @returns nothing when two former secrets sign already: more signatures would only make requests longer
 */
export async function rotateUserSecret (
  tx: PoolClient, keys: SecretKeys, userId: string, overlapHours = defaultOverlapHours
): Promise<Secrets | undefined> {
  await currentSecret(tx, keys, userId)
  return await rotate(tx, keys, { userId }, overlapHours) ? await userSecrets(tx, keys, userId) : undefined
}

/** The same for an assistant. Its first secret takes the place of the user's, which sign beside it for that time. */
export async function rotateOwnSecret (
  tx: PoolClient, keys: SecretKeys, { userId, id }: { userId: string, id: number }, overlapHours = defaultOverlapHours
): Promise<AssistantSecrets | undefined> {
  const isRotated = await rotate(tx, keys, { userId, assistantId: id }, overlapHours)
  return isRotated ? await assistantSecrets(tx, keys, userId, id) : undefined
}

async function rotate (tx: PoolClient, keys: SecretKeys, owner: SecretOwner, overlapHours: number): Promise<boolean> {
  const { userId, assistantId } = owner
  await lockSecretsOf(tx, owner)
  if (overlapHours === 0) await endFormer(tx, owner)
  else if (await countFormer(tx, owner) >= mostFormer) return false
  const isFirst = !await endCurrent(tx, owner, overlapHours)
  const { key_id, sealed } = seal(keys, userId, newSecret())
  await tx.query(`
    INSERT INTO ledger.webhook_secrets (user_id, assistant_id, key_id, sealed, beside_user_until)
    VALUES ($1, $2, $3, decode($4, 'base64'), CASE WHEN $5 THEN now() + $6 * interval '1 hour'
      WHEN $6 > 0 THEN ( -- as the one before
        SELECT beside_user_until FROM ledger.webhook_secrets WHERE user_id = $1 AND assistant_id = $2 ORDER BY id DESC LIMIT 1) END)`,
  [userId, assistantId ?? null, key_id, sealed, assistantId !== undefined && isFirst, overlapHours])
  return true
}

/** Signs for the assistant with the user's secrets again, and for 24 hours with its own beside them. */
export async function dropOwnSecret (
  tx: PoolClient, keys: SecretKeys, userId: string, assistantId: number
): Promise<AssistantSecrets> {
  await lockSecretsOf(tx, { userId, assistantId })
  await currentSecret(tx, keys, userId)
  await endCurrent(tx, { userId, assistantId }, defaultOverlapHours)
  return await assistantSecrets(tx, keys, userId, assistantId)
}

async function lockSecretsOf (tx: PoolClient, { userId, assistantId }: SecretOwner): Promise<void> {
  await tx.query('SELECT pg_advisory_xact_lock($1, hashtext($2))', [lockSpace, `${userId} ${assistantId ?? ''}`])
}

const isOwners = 'user_id = $1 AND coalesce(assistant_id, 0) = $2'
const valuesOf = ({ userId, assistantId = 0 }: SecretOwner) => [userId, assistantId]

async function findCurrent (db: Database, keys: SecretKeys, owner: SecretOwner): Promise<string | undefined> {
  const { rows: [row] } = await db.query<SealedRow>(`
    SELECT key_id, encode(sealed, 'base64') AS sealed FROM ledger.webhook_secrets
    WHERE ${isOwners} AND expires_at IS NULL`, valuesOf(owner))
  return row && unseal(keys, owner.userId, row)
}

async function findFormer (db: Database, keys: SecretKeys, owner: SecretOwner): Promise<Secrets['previous'] | undefined> {
  const { rows: [row] } = await db.query<SealedRow & { expires_at: Date }>(`
    SELECT key_id, encode(sealed, 'base64') AS sealed, expires_at FROM ledger.webhook_secrets
    WHERE ${isOwners} AND expires_at > now() ORDER BY id DESC LIMIT 1`, valuesOf(owner))
  return row && { secret: unseal(keys, owner.userId, row), expires_at: row.expires_at.toISOString() }
}

/** How long the user's secret signs beside an own one; inherited where that took the place of another own one. */
async function besideUsers (db: Database, owner: SecretOwner) {
  const { rows: [beside] } = await db.query<{ until: Date, isInherited: boolean }>(`
    SELECT beside_user_until AS until, EXISTS (
      SELECT FROM ledger.webhook_secrets
      WHERE ${isOwners} AND expires_at > now() AND beside_user_until = present.beside_user_until) AS "isInherited"
    FROM ledger.webhook_secrets present
    WHERE ${isOwners} AND expires_at IS NULL AND beside_user_until > now()`, valuesOf(owner))
  return beside
}

async function countFormer (tx: PoolClient, owner: SecretOwner): Promise<number> {
  const { rows: [former] } = await tx.query<{ count: number }>(
    `SELECT count(*)::integer FROM ledger.webhook_secrets WHERE ${isOwners} AND expires_at > now()`, valuesOf(owner))
  return former?.count ?? 0
}

async function endFormer (tx: PoolClient, owner: SecretOwner): Promise<void> {
  await tx.query(
    `UPDATE ledger.webhook_secrets SET expires_at = now() WHERE ${isOwners} AND expires_at > now()`, valuesOf(owner))
}

/** @returns whether there was one */
async function endCurrent (tx: PoolClient, owner: SecretOwner, overlapHours: number): Promise<boolean> {
  const { rowCount } = await tx.query(`
    UPDATE ledger.webhook_secrets SET expires_at = now() + $3 * interval '1 hour'
    WHERE ${isOwners} AND expires_at IS NULL`, [...valuesOf(owner), overlapHours])
  return rowCount === 1
}
