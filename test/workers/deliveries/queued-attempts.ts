// Deliveries that have their slots, and starts and outcomes of their attempts, for tests of batches of both.
import { randomUUID } from 'node:crypto'
import { deliveryId } from '../../../workers/dispatch/delivery-id.js'
import type { Finished } from '../../../workers/deliveries/attempts/finish.js'
import type { Start } from '../../../workers/deliveries/attempts/start.js'
import { assistantTo, callsOf } from '../../support/events/call-events.js'
import { deliveryRig, type Rig } from '../../support/workers/delivery-rig.js'
import type { Teardown } from '../../support/teardown.js'

export const url = 'http://127.0.0.1:1/hook'

/** Deliveries of calls 0, 1, ... that have their slots and wait for a worker. */
export async function queued (t: Teardown, count: number, to = url): Promise<Rig> {
  const rig = await deliveryRig(t, { works: false, enqueues: false })
  await rig.tell(assistantTo(to), ...callsOf(1, count))
  await rig.enqueuer.enqueue(['1'])
  return rig
}

export const startOf = (call: number, given: { n?: number, jobNumber?: number } = {}): Start =>
  ({ job: { deliveryId: deliveryId(`call-1-${call}`), n: 1, jobNumber: 1, ...given }, token: randomUUID() })

export const delivered = ({ job, token }: Start): Finished => ({
  attempt: { ...job, token, endpointId: '1' },
  finish: { outcome: 'delivered', statusCode: 204, durationMs: 7, error: null, excerpt: '"{,}\\', truncated: false },
  verdict: { status: 'delivered' }
})

export const failed = (start: Start): Finished => ({
  ...delivered(start),
  finish: { outcome: 'rejected', statusCode: 500, durationMs: 8, error: null, excerpt: null, truncated: true },
  verdict: { status: 'retry', inMs: 5_000 }
})
