// Signing secrets: one per user, and one of its own for each assistant that asked for it.
import type { Pool, PoolClient } from 'pg'
import type { AssistantSecret, WebhookSecret } from '../../src/features/webhooks/model.js'
import { seal, unseal, type SealedRow, type SecretKeys } from '../../src/privacy/sealed-text.js'
import { iso } from '../../src/postgres/page.js'
import { lockFor } from '../../src/postgres/transaction.js'
import { newSecret } from './sign.js'

/** An assistant, or without one the user. */
interface SecretOwner {
  userId: string
  assistantId?: number | undefined
}

type Database = Pick<Pool | PoolClient, 'query'>

const mostFormer = 2
const defaultOverlapHours = 24

/**
 * What verifies the user's webhooks: the current secret, and the one before it while that still signs. Creates the
 * first one; concurrent callers get the same.
 */
export async function userSecrets (db: Database, keys: SecretKeys, userId: string): Promise<WebhookSecret> {
  const { key_id, sealed } = seal(keys, userId, newSecret())
  await db.query(`
    INSERT INTO ledger.webhook_secrets (user_id, key_id, sealed) VALUES ($1, $2, decode($3, 'base64'))
    ON CONFLICT DO NOTHING`, [userId, key_id, sealed])
  const { current, former: [former] } = await signing(db, keys, { userId })
  if (!current) throw new Error('the webhook secret was removed while it was read')
  return { secret: current.secret, previous: shown(former) }
}

/** What verifies the webhooks of the user's assistant: its own secrets, or else the user's. */
export async function assistantSecrets (
  db: Database, keys: SecretKeys, userId: string, assistantId: number
): Promise<AssistantSecret> {
  const { current, former: [former] } = await signing(db, keys, { userId, assistantId })
  const users = await userSecrets(db, keys, userId)
  if (!current) return { ...users, previous: shown(former) ?? users.previous, own: false }
  const { secret, beside } = current
  const isUsersLast = beside !== null && former?.beside !== beside // it replaced the user's secret, not an own one
  return { secret, previous: isUsersLast ? { secret: users.secret, expires_at: beside } : shown(former), own: true }
}

/**
 * Makes a new secret of the owner current. The former one keeps signing for `overlapHours`; with 0 it stops at once. A
 * second rotation does not shorten that: each former secret signs for its own time, so that no receiver that has one of
 * them breaks. The first one of an assistant replaces the user's, which keep signing for that time.
 * @returns false if two former secrets sign already: more signatures would only make requests longer
 */
export async function rotateSecret (
  tx: PoolClient, keys: SecretKeys, owner: SecretOwner, overlapHours = defaultOverlapHours
): Promise<boolean> {
  const { userId, assistantId } = owner
  await userSecrets(tx, keys, userId)
  await lockFor(tx, 'secrets', `${userId} ${assistantId ?? ''}`)
  const { current, former } = await signing(tx, keys, owner)
  if (overlapHours > 0 && former.length >= mostFormer) return false
  await endSecrets(tx, owner, overlapHours)
  const { key_id, sealed } = seal(keys, userId, newSecret())
  await tx.query(`
    INSERT INTO ledger.webhook_secrets (user_id, assistant_id, key_id, sealed, beside_user_until)
    VALUES ($1, $2, $3, decode($4, 'base64'), CASE WHEN $5 THEN now() + $6 * interval '1 hour'
      WHEN $6 > 0 THEN ( -- as the one before
        SELECT beside_user_until FROM ledger.webhook_secrets WHERE user_id = $1 AND assistant_id = $2 ORDER BY id DESC LIMIT 1) END)`,
  [userId, assistantId ?? null, key_id, sealed, assistantId !== undefined && !current, overlapHours])
  return true
}

/** The user's secrets sign for the assistant again; its own ones keep signing for 24 hours. */
export async function dropOwnSecret (
  tx: PoolClient, keys: SecretKeys, userId: string, assistantId: number
): Promise<AssistantSecret> {
  await lockFor(tx, 'secrets', `${userId} ${assistantId}`)
  await endSecrets(tx, { userId, assistantId }, defaultOverlapHours)
  return await assistantSecrets(tx, keys, userId, assistantId)
}

/** `beside`: until when the user's secrets sign as well. Both times in ISO 8601. */
interface Signing { secret: string, expires_at: string | null, beside: string | null }

/** The secrets of the owner that sign; former ones the newest first. */
async function signing (
  db: Database, keys: SecretKeys, { userId, assistantId = 0 }: SecretOwner
): Promise<{ current: Signing | undefined, former: Signing[] }> {
  const { rows } = await db.query<SealedRow & Omit<Signing, 'secret'>>(`
    SELECT key_id, encode(sealed, 'base64') AS sealed, ${iso('expires_at')} AS expires_at,
      CASE WHEN beside_user_until > now() THEN ${iso('beside_user_until')} END AS beside
    FROM ledger.webhook_secrets
    WHERE user_id = $1 AND coalesce(assistant_id, 0) = $2 AND coalesce(expires_at > now(), true) ORDER BY id DESC`,
  [userId, assistantId])
  const all = rows.map((row) => ({ ...row, secret: unseal(keys, userId, row) }))
  return { current: all.find(({ expires_at }) => !expires_at), former: all.filter(({ expires_at }) => expires_at) }
}

const shown = (former: Signing | undefined) =>
  former?.expires_at ? { secret: former.secret, expires_at: former.expires_at } : null

/** The current secret keeps signing for `overlapHours`; with 0 the former ones stop too. */
async function endSecrets (tx: PoolClient, { userId, assistantId = 0 }: SecretOwner, overlapHours: number) {
  await tx.query(`
    UPDATE ledger.webhook_secrets SET expires_at = now() + $3 * interval '1 hour'
    WHERE user_id = $1 AND coalesce(assistant_id, 0) = $2 AND (expires_at IS NULL OR ($3 = 0 AND expires_at > now()))`,
  [userId, assistantId, overlapHours])
}
