// What the outcome of an attempt means for its endpoint.
import type { Pool } from 'pg'
import { inTransaction } from '../../src/postgres/transaction.js'
import { type Pause, usesAttempt, type Verdict } from '../../src/features/webhooks/outcome.js'
import type { Finish, Sent } from '../deliveries/attempts/attempt.js'
import { recordSuccess, suspend } from '../deliveries/endpoints.js'
import { noteSuspension, recordFailure } from '../deliveries/notices.js'
import { pauseEndpoint } from '../deliveries/pauses.js'

/** What an attempt came to. */
export interface Made { finish: Finish, verdict: Verdict, pause?: Pause | undefined }

export interface FollowOptions {
  pool: Pool
  log: { warn (details: object, message: string): void }
}

/**
 * Records the health of the endpoint, and pauses or suspends it when its time has come. A crash may lose this: the
 * next attempt does it again. Of an attempt on demand only a success counts, so that a user who tries things out does
 * no harm.
 */
export async function followOutcome (
  attempt: Sent, { finish, verdict: { status }, pause }: Made, options: FollowOptions
): Promise<void> {
  const { outcome } = finish
  const { trigger, endpointId, health } = attempt
  if (outcome === 'delivered' && health !== 'fine') await recordSuccess(options.pool, endpointId)
  if (trigger !== 'schedule') return
  if (pause) await pauseEndpoint(options.pool, endpointId, pause)
  if (!usesAttempt(finish)) return
  await recordFailure(options.pool, attempt)
  if (status === 'cancelled') await suspendAndLog(attempt, 'gone', options)
  else if (health === 'overdue') await suspendAndLog(attempt, 'failing', options)
}

async function suspendAndLog (
  { deliveryId, endpointId }: Sent, reason: 'gone' | 'failing', { pool, log }: FollowOptions
): Promise<void> {
  const isNew = await inTransaction(pool, async (tx) => {
    const isNew = await suspend(tx, endpointId, reason)
    if (isNew) await noteSuspension(tx, deliveryId, reason)
    return isNew
  })
  if (!isNew) return
  log.warn(
    { delivery: deliveryId, endpoint: endpointId, reason },
    'an endpoint is suspended: it answered 410, or only failed for days')
}
