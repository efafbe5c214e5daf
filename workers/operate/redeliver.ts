// Attempts on demand: sends a delivery again, sends a test.
import { randomUUID } from 'node:crypto'
import type { Pool, PoolClient } from 'pg'
import type { RequestedAttempt } from '../../src/features/webhooks/model.js'
import type { WebhookTest } from '../../src/features/webhooks/payload.js'
import { inTransaction } from '../../src/postgres/transaction.js'
import { notifyDue } from '../deliveries/webhooks.js'
import { askForAttempt } from '../deliveries/pending.js'
import { findDelivery, isDeliveryId } from '../deliveries/read.js'

type Kind = 'manual' | 'test'

/** For each assistant and kind. */
const perMinute = 10

/** Characters of each answer that is shown, because the response is stored with its Idempotency-Key. */
const longestExcerpt = 1_024

/** Asks for one more attempt of a delivery, at once. Operators name no user and have no limit. */
export async function redeliver (pool: Pool, id: string, userId?: string): Promise<RequestedAttempt> {
  return await inTransaction(pool, (tx) => requestRedelivery(tx, id, userId))
}

interface Found {
  assistant_id: string | null
  status: string
  reason: string | null
  has_body: boolean
  url: string | null
}

/** As `redeliver`, in the caller's transaction. */
export async function requestRedelivery (tx: PoolClient, id: string, userId?: string): Promise<RequestedAttempt> {
  if (!isDeliveryId(id)) return { kind: 'not-found' }
  const { rows: [found] } = await tx.query<Found>(`
    SELECT assistant_id, status, reason, body IS NOT NULL AND d.user_id IS NOT NULL AS has_body, url
    FROM ledger.webhook_deliveries d LEFT JOIN ledger.webhooks w USING (assistant_id)
    WHERE id = $1 AND ($2::text IS NULL OR d.user_id = $2)`, [id, userId ?? null])
  if (!found) return { kind: 'not-found' }
  const { assistant_id: assistantId, status, reason, has_body: hasBody, url } = found
  if (!hasBody && status === 'skipped') return refused(`it was never to be sent: ${reason ?? status}`)
  if (!hasBody || assistantId === null) return refused(noPayload)
  if (url === null) return refused('its assistant has no webhook_url')
  const refusal = userId === undefined ? undefined : await tooMany(tx, 'manual', assistantId)
  return refusal ?? await ask(tx, id, 'manual', assistantId)
}

/** Inserts a test delivery and asks for its only attempt. Call it once the dispatcher knows the webhook. */
export async function requestTest (tx: PoolClient, userId: string, body: WebhookTest): Promise<RequestedAttempt> {
  const { data: { assistant } } = body
  const [id, assistantId] = [randomUUID(), String(assistant.id)]
  const refusal = await tooMany(tx, 'test', assistantId)
  if (refusal) return refusal
  await tx.query(`
    INSERT INTO ledger.webhook_deliveries (id, type, user_id, assistant_id, body, status)
    VALUES ($1, $2, $3, $4, $5, 'scheduled')`, [id, body.type, userId, assistant.id, JSON.stringify(body)])
  return await ask(tx, id, 'test', assistantId)
}

const noPayload = 'its payload is no longer kept'
const refused = (why: string): RequestedAttempt => ({ kind: 'refused', why })

async function ask (tx: PoolClient, id: string, kind: Kind, assistantId: string): Promise<RequestedAttempt> {
  if (await askForAttempt(tx, id, kind) === undefined) return refused(noPayload)
  await notifyDue(tx, assistantId)
  const delivery = await findDelivery(tx, undefined, id, longestExcerpt)
  if (!delivery) throw new Error('a delivery was removed while its attempt was inserted')
  return { kind: 'accepted', delivery }
}

/** Notes the time, unless there were too many within the minute. Serial for each assistant. */
async function tooMany (tx: PoolClient, kind: Kind, assistantId: string): Promise<RequestedAttempt | undefined> {
  const asked = `${kind}_asked`
  const freeAt = `${asked}[${perMinute}] + interval '1 minute'`
  const { rowCount } = await tx.query(`
    UPDATE ledger.webhooks SET ${asked} = (clock_timestamp() || ${asked})[1:${perMinute}]
    WHERE assistant_id = $1 AND coalesce(${freeAt} <= clock_timestamp(), true)`, [assistantId])
  if (rowCount === 1) return undefined
  const { rows: [row] } = await tx.query<{ seconds: number }>(`
    SELECT ceil(extract(epoch FROM ${freeAt} - clock_timestamp()))::integer AS seconds
    FROM ledger.webhooks WHERE assistant_id = $1`, [assistantId])
  return { kind: 'too-many', retryInSeconds: Math.max(1, row?.seconds ?? 1) }
}
