// What the outcome of an attempt means for its endpoint.
import type { Pool } from 'pg'
import { inTransaction } from '../../src/postgres/transaction.js'
import type { Attempt, Finish } from '../deliveries/attempts.js'
import { recordHealth, suspend } from '../deliveries/endpoints.js'
import type { Verdict } from '../../src/domain/webhook/outcome.js'

export interface FollowOptions {
  pool: Pool
  log: { warn (details: object, message: string): void }
}

/**
 * Records the health of the endpoint, and suspends it when its time has come. A crash may lose this: the next attempt
 * does it again. Of an attempt on demand only a success counts, so that a user who tries things out does no harm.
 */
export async function followOutcome (
  attempt: Attempt, { outcome }: Finish, { status }: Verdict, options: FollowOptions
): Promise<void> {
  const { trigger, endpointId, health } = attempt
  if (outcome === 'delivered' && health !== 'fine') await recordHealth(options.pool, endpointId, true)
  if (outcome === 'delivered' || outcome === 'unknown' || trigger !== 'schedule') return
  if (health === 'fine') await recordHealth(options.pool, endpointId, false)
  if (status === 'cancelled') await suspendAndLog(attempt, 'gone', options)
  else if (health === 'overdue') await suspendAndLog(attempt, 'failing', options)
}

async function suspendAndLog (
  { deliveryId, endpointId }: Attempt, reason: 'gone' | 'failing', { pool, log }: FollowOptions
): Promise<void> {
  const isNew = await inTransaction(pool, (tx) => suspend(tx, endpointId, reason))
  if (!isNew) return
  log.warn(
    { delivery: deliveryId, endpoint: endpointId, reason },
    'an endpoint is suspended: it answered 410, or only failed for days')
}
