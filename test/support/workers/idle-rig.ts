// A delivery rig in which nothing happens by itself: a test makes each attempt.
import { deliveryId } from '../../../workers/dispatch/delivery-id.js'
import { deliveryRig, type Rig } from './delivery-rig.js'
import type { Teardown } from '../teardown.js'

/** Its second attempt is due after an hour. */
export const idleRig = (t: Teardown): Promise<Rig> =>
  deliveryRig(t, { works: false, enqueues: false, schedule: [0, 3_600_000] })

/** Call, status and reason of each delivery. */
export const stands = async (r: Rig): Promise<unknown[][]> =>
  (await r.deliveries()).map(({ call_id, status, reason }) => [call_id, status, reason])

/** Makes attempt `n` of a call's delivery now, whenever it is due. */
export async function attempt (r: Rig, call: string, n = 1): Promise<void> {
  await r.pool.query(`
    UPDATE ledger.webhook_deliveries SET next_attempt_at = now()
    WHERE call_id = $1 AND status = 'scheduled'`, [call])
  await r.enqueuer.enqueue(['1'])
  const { rows: [{ job_number: jobNumber }] } = await r.pool.query(`
    SELECT job_number FROM ledger.webhook_deliveries WHERE call_id = $1`, [call])
  await r.deliver({ deliveryId: deliveryId(call), n, jobNumber })
}
