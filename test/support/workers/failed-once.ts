// A delivery that was tried once and failed, for tests of attempts on demand.
import type { Test } from 'tap'
import { inTransaction } from '../../../src/postgres/transaction.js'
import { requestTest } from '../../../workers/operate/redeliver.js'
import { deliveryId } from '../../../workers/dispatch/delivery-id.js'
import { assistantTo, callCompleted } from '../events/call-events.js'
import { deliveryRig, type Rig, type RigOptions } from './delivery-rig.js'
import { eventually } from '../eventually.js'
import { answers, receiver, type Receiver } from '../receivers/receiver.js'

export const id = deliveryId('c-1')

export const sendTest = ({ pool }: Rig, { url }: Receiver, id = 1) =>
  inTransaction(pool, (tx) => requestTest(tx, { userId: '1', assistant: { id, name: 'Front desk' }, url }))

export const attemptsOf = async (r: Rig) => (await r.attempts()).map(({ trigger, n, outcome }) => [trigger, n, outcome])

export const row = async (r: Rig, delivery = id) => (await r.deliveries()).find((each) => each.id === delivery) ?? {}

export const ended = (r: Rig, count: number) =>
  eventually(async () => (await r.attempts()).filter(({ outcome }) => outcome !== null).length === count)

/** A rig with one delivery that was tried once, and failed. */
export async function failedOnce (t: Test, options: RigOptions = {}) {
  const r = await deliveryRig(t, { schedule: [0, 3_600_000], ...options })
  const hook = await receiver(t, answers(500))
  await r.tell(assistantTo(hook.url), callCompleted('c-1'))
  await ended(r, 1)
  return { r, hook }
}
