// Notes what a user wants to be sent again: the workers do it.
import type { PoolClient } from 'pg'
import { lockForCount } from '../background/requests.js'

export const recoverable = ['exhausted', 'cancelled', 'skipped', 'held'] as const
export type Recoverable = typeof recoverable[number]

/** ISO 8601; `until` is now where it is absent. */
export interface RecoveryRequest {
  userId: string
  assistantId: number
  since: string
  until?: string | undefined
  statuses: readonly Recoverable[]
}

export type Requested = { count: number } | { refused: 'too-many' | 'busy' }

const mostRecovered = 100_000
const mostOfAssistant = 10
const zeroId = '00000000-0000-0000-0000-000000000000'

/**
 * A condition on rows of the delivery log; `$3` are statuses. A call that was not to be sent can be sent where its user
 * had only switched the webhook off. Other payloads must still be there.
 */
export const isRecoverable = `
  status = ANY($3::text[]) AND call_id IS NOT NULL AND started_at IS NULL
  AND CASE WHEN status = 'skipped' THEN reason = 'webhook_off' ELSE body IS NOT NULL END`

/** Notes what is to be sent again. @returns how many deliveries that is, or why nothing was noted */
export async function requestRecovery (tx: PoolClient, request: RecoveryRequest): Promise<Requested> {
  const { userId, assistantId, since, until = null, statuses } = request
  await lockForCount(tx, 'webhook-recovery', String(assistantId))
  const { rows: [counted] } = await tx.query<{ count: number, running: number }>(`
    SELECT (SELECT count(*)::integer FROM ledger.webhook_recoveries WHERE assistant_id = $2) AS running,
           (SELECT count(*)::integer FROM (
             SELECT FROM ledger.webhook_deliveries
             WHERE user_id = $1 AND assistant_id = $2 AND ${isRecoverable}
               AND created_at >= $4 AND created_at <= coalesce($5, now()) LIMIT $6) found) AS count`,
  [userId, assistantId, statuses, since, until, mostRecovered + 1])
  const { count = 0, running = 0 } = counted ?? {}
  if (count > mostRecovered) return { refused: 'too-many' }
  if (running >= mostOfAssistant) return { refused: 'busy' }
  if (count === 0) return { count }
  await tx.query(`
    INSERT INTO ledger.webhook_recoveries (user_id, assistant_id, statuses, after_created, after_id, until)
    VALUES ($1, $2, $3, $4, '${zeroId}', coalesce($5, now()))`, [userId, assistantId, statuses, since, until])
  return { count }
}
