// The dispatcher and the sender on a real database and queue; the test gives the dispatcher its events.
import type { Test } from 'tap'
import type { StoredEvent } from '../../../src/domain/stored-event.js'
import { inTransaction } from '../../../src/postgres/transaction.js'
import { deliveryId } from '../../../workers/dispatch/payload.js'
import { dispatcher } from '../../../workers/dispatch/dispatch.js'
import { testOf } from '../../../src/http/docs/examples.js'
import { requestTest } from '../../../workers/operate/redeliver.js'
import { commitEvents } from '../events/appender.js'
import { assistantTo, callCompleted, logOf, type Told } from '../events/call-events.js'
import { eventually } from '../eventually.js'
import { keepingLog } from '../postgres/ledger.js'
import { answers, receiver } from '../receivers/receiver.js'
import type { Teardown } from '../teardown.js'
import { type SenderRig, senderRig, sending, type SendingOptions } from './sender-rig.js'

export type Row = Record<string, unknown>
export type Rig = Awaited<ReturnType<typeof deliveryRig>>

const usualWaits = [0, 50, 50]

/** The dispatcher alone, on this database or one of its own. */
export async function dispatchRig (t: Teardown, on?: SenderRig) {
  const r = on ?? await senderRig(t)
  return { ...r, ...await dispatching(r, usualWaits, () => {}), ...reading(r) }
}

/** The same with a sender. `reconcile` runs its periodic work. */
export async function deliveryRig (t: Teardown, options: SendingOptions = {}, on?: SenderRig) {
  const { waits = usualWaits, timeoutMs = 2_000 } = options
  const r = on ?? await senderRig(t)
  const site = await sending(t, r, { ...options, waits, timeoutMs })
  return { ...r, ...await dispatching(r, waits, (ids) => site.sender.wake(ids)), ...site, ...reading(r) }
}

async function dispatching (
  { pool }: SenderRig, [firstDelayMs = 0]: number[], wake: (assistants: Iterable<string>) => void
) {
  const log = keepingLog()
  const consumer = await dispatcher({ pool, firstDelayMs, wake, log }).open()
  const tellStored = (events: StoredEvent[]) => commitEvents(consumer, events, pool)
  const place = logOf()
  return {
    log,
    tellStored,
    /** Dispatches events. */
    async tell (...events: Told[]) {
      const stored = place(events)
      await tellStored(stored)
      return stored
    }
  }
}

/** Rows as users see them: `held` includes deliveries that wait for a webhook that is off or suspended. */
const deliveriesSql = `
  SELECT d.*, w.url, due.due_at, due.started_at, CASE WHEN NOT waits THEN d.status ELSE 'held' END AS status,
         CASE WHEN NOT waits THEN d.reason WHEN w.off_since IS NOT NULL THEN 'webhook_off' ELSE 'endpoint_suspended' END AS reason
  FROM ledger.webhook_deliveries d
  LEFT JOIN ledger.webhook_due due ON due.delivery_id = d.id AND due.trigger = 'schedule'
  LEFT JOIN ledger.webhooks w ON w.assistant_id = d.assistant_id
  CROSS JOIN LATERAL (SELECT d.status = 'scheduled' AND (w.off_since IS NOT NULL OR w.suspended_at IS NOT NULL) AS waits) shown
  ORDER BY position`

const reading = ({ pool }: SenderRig) => ({
  deliveries: async () => (await pool.query<Row>(deliveriesSql)).rows,
  /** Attempts that have ended. */
  attempts: async () => (await pool.query<Row>(
    'SELECT * FROM ledger.webhook_attempts ORDER BY delivery_id, started_at, n')).rows
})

/** Resolves when every delivery has this status and none is being attempted. */
export const settled = (r: Pick<Rig, 'deliveries'>, status: string): Promise<unknown> =>
  eventually(async () => (await r.deliveries()).every((row) => row.status === status && row.started_at === null))

export const id = deliveryId('c-1')

export const sendTest = ({ pool }: Pick<Rig, 'pool'>, id = 1) =>
  inTransaction(pool, (tx) => requestTest(tx, '1', testOf({ id, name: 'Front desk' }, [], new Date().toISOString())))

export const ended = (r: Pick<Rig, 'attempts'>, count: number) =>
  eventually(async () => (await r.attempts()).length === count)

/** A rig with one delivery that was tried once, and failed. */
export async function failedOnce (t: Test, options: SendingOptions = {}, on?: SenderRig) {
  const r = await deliveryRig(t, { waits: [0, 3_600_000], ...options }, on)
  const hook = await receiver(t, answers(500))
  await r.tell(assistantTo(hook.url), callCompleted('c-1'))
  await ended(r, 1)
  return { r, hook }
}
