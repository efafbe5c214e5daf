// Attempts on demand: sends a delivery again, sends a test.
import { randomUUID } from 'node:crypto'
import type { Pool, PoolClient } from 'pg'
import type { RequestedAttempt } from '../../src/features/webhooks/model.js'
import type { WebhookTest } from '../../src/features/webhooks/payload.js'
import { inTransaction } from '../../src/postgres/transaction.js'
import { insertOnDemandAttempt, type NewOnDemandAttempt } from '../deliveries/attempts/on-demand.js'
import type { OnDemandTrigger } from '../deliveries/attempts/attempt.js'
import { notifyDue } from '../deliveries/due-channel.js'
import { endpointIds } from '../deliveries/endpoints.js'
import { findDelivery, isDeliveryId } from '../deliveries/read/find-deliveries.js'

export interface TestTarget {
  userId: string
  assistant: { id: number, name: string }
  url: string
}

/** For each assistant and kind. */
const perMinute = 10

/** Of each answer that is shown: what answers a request for an attempt is kept with its Idempotency-Key. */
const longestExcerpt = 1_024

/** Inserts one more attempt of a delivery, to the assistant's URL of now. Operators name no user and have no limit. */
export async function redeliver (pool: Pool, id: string, userId?: string): Promise<RequestedAttempt> {
  return await inTransaction(pool, (tx) => requestRedelivery(tx, id, userId))
}

/** As `redeliver`, in the caller's transaction. */
export async function requestRedelivery (tx: PoolClient, id: string, userId?: string): Promise<RequestedAttempt> {
  const found = isDeliveryId(id) ? await lockSendable(tx, id, userId) : undefined
  if (!found) return { kind: 'not-found' }
  const { user_id, assistant_id, url } = found
  if (user_id === null || assistant_id === null || !found.has_body) return { kind: 'refused', why: whyNothing(found) }
  if (url === null) return { kind: 'refused', why: 'its assistant has no webhook_url' }
  const attempt = { deliveryId: id, trigger: 'manual' as const, userId: user_id, assistantId: Number(assistant_id) }
  const refusal = await tooMany(tx, attempt, userId !== undefined)
  return refusal ?? await insertAttempt(tx, attempt, await endpointId(tx, attempt, url))
}

/** Inserts a test delivery and its only attempt, in the caller's transaction. */
export async function requestTest (tx: PoolClient, { userId, assistant, url }: TestTarget): Promise<RequestedAttempt> {
  const body: WebhookTest = { type: 'webhook.test', timestamp: new Date().toISOString(), data: { assistant } }
  const attempt = { deliveryId: randomUUID(), trigger: 'test' as const, userId, assistantId: assistant.id }
  const refusal = await tooMany(tx, attempt, true)
  if (refusal) return refusal
  const endpoint = await endpointId(tx, attempt, url)
  await insertTestDelivery(tx, attempt, endpoint, body)
  return await insertAttempt(tx, attempt, endpoint)
}

type NewAttempt = Omit<NewOnDemandAttempt, 'endpointId'>

interface Sendable {
  user_id: string | null
  assistant_id: string | null
  status: string
  reason: string | null
  has_body: boolean
  url: string | null
}

async function lockSendable (tx: PoolClient, id: string, userId: string | undefined): Promise<Sendable | undefined> {
  const { rows: [found] } = await tx.query<Sendable>(`
    SELECT d.user_id, d.assistant_id, d.status, d.reason, d.body IS NOT NULL AS has_body,
           CASE WHEN a.assistant_id IS NOT NULL THEN a.settings->>'webhook_url'
                WHEN d.type = 'webhook.test' THEN e.url -- the dispatcher does not know an assistant this new
           END AS url
    FROM ledger.webhook_deliveries d
      LEFT JOIN ledger.dispatch_assistants a ON a.assistant_id = d.assistant_id
      LEFT JOIN ledger.webhook_endpoints e ON e.id = d.endpoint_id
    WHERE d.id = $1 AND ($2::text IS NULL OR d.user_id = $2)
    FOR NO KEY UPDATE OF d -- retention removes no payload meanwhile, and attempts are numbered one after the other`, [id, userId ?? null])
  return found
}

const whyNothing = ({ status, reason }: Sendable) =>
  status === 'skipped' ? `it was never to be sent: ${reason ?? status}` : 'its payload is no longer kept'

async function tooMany (
  tx: PoolClient, { assistantId, trigger }: NewAttempt, isLimited: boolean
): Promise<RequestedAttempt | undefined> {
  const retryInSeconds = isLimited ? await secondsUntilFree(tx, assistantId, trigger) : 0
  return retryInSeconds > 0 ? { kind: 'too-many', retryInSeconds } : undefined
}

/** Notes the time, unless there were too many within the minute. Serial for each assistant. */
async function secondsUntilFree (tx: PoolClient, assistantId: number, trigger: OnDemandTrigger): Promise<number> {
  const { rowCount } = await tx.query(`
    INSERT INTO ledger.webhook_attempts_asked AS asked (assistant_id, trigger, at)
    VALUES ($1, $2, ARRAY[clock_timestamp()])
    ON CONFLICT (assistant_id, trigger) DO UPDATE SET at = (clock_timestamp() || asked.at)[1:${perMinute}]
    WHERE coalesce(${freeAt} <= clock_timestamp(), true)`, [assistantId, trigger])
  if (rowCount === 1) return 0
  const { rows: [asked] } = await tx.query<{ seconds: number }>(`
    SELECT ceil(extract(epoch FROM ${freeAt} - clock_timestamp()))::integer AS seconds
    FROM ledger.webhook_attempts_asked asked WHERE assistant_id = $1 AND trigger = $2`, [assistantId, trigger])
  return Math.max(1, asked?.seconds ?? 1)
}

const freeAt = `asked.at[${perMinute}] + interval '1 minute'`

async function endpointId (tx: PoolClient, { userId }: NewAttempt, url: string): Promise<string> {
  const [id = ''] = await endpointIds(tx, [{ user_id: userId, url }])
  return id
}

async function insertTestDelivery (
  tx: PoolClient, { deliveryId, userId, assistantId }: NewAttempt, endpoint: string, body: WebhookTest
): Promise<void> {
  await tx.query(`
    INSERT INTO ledger.webhook_deliveries (id, type, user_id, assistant_id, endpoint_id, body, status, next_attempt_at)
    VALUES ($1, $2, $3, $4, $5, $6, 'scheduled', 'infinity')`,
  [deliveryId, body.type, userId, assistantId, endpoint, JSON.stringify(body)])
}

async function insertAttempt (tx: PoolClient, attempt: NewAttempt, endpoint: string): Promise<RequestedAttempt> {
  await insertOnDemandAttempt(tx, { ...attempt, endpointId: endpoint })
  await notifyDue(tx, attempt.userId)
  const delivery = await findDelivery(tx, attempt.userId, attempt.deliveryId, longestExcerpt)
  if (!delivery) throw new Error('a delivery was removed while its attempt was inserted')
  return { kind: 'accepted', delivery }
}
