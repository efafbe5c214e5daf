// Reads what the dispatcher has made of events.
import { webhookTo, type Told } from '../../support/events/call-events.js'
import type { Answer } from '../../support/running-service.js'
import type { dispatchRig, Row } from '../../support/workers/delivery-rig.js'
import type { BlacklistEvent } from '../../../src/features/blacklist/events.js'

export const url = 'https://hooks.example.com/calls'
export const webhookOn = webhookTo(url)

type Rig = Awaited<ReturnType<typeof dispatchRig>>

/** The only delivery, with the data of its body. */
export async function onlyDelivery ({ deliveries }: Rig): Promise<Row & { data: Answer['body'] }> {
  const [row, ...more] = await deliveries()
  if (!row || more.length > 0) throw new Error(`there are ${more.length + (row ? 1 : 0)} rows`)
  return { ...row, data: typeof row.body === 'string' ? JSON.parse(row.body).data : undefined }
}

export async function tables ({ pool }: Rig): Promise<Row[][]> {
  const names = ['dispatch_assistants', 'dispatch_leads', 'dispatch_campaigns', 'dispatch_blacklist', 'webhooks']
  const results = await Promise.all(names.map((name) => pool.query<Row>(`SELECT * FROM ledger.${name} ORDER BY 1`)))
  return results.map(({ rows }) => rows)
}

const at = '2026-01-31T12:05:00.000Z'
const on = (phoneNumber: string, userId: string, event: BlacklistEvent): Told =>
  ({ stream: `blacklist-${userId}-${phoneNumber.slice(1)}`, ...event, metadata: { schema_version: '1' } })

export const listed = (phone_number: string, blacklist_id = 1, user_id = '1') => on(phone_number, user_id, {
  type: 'PhoneNumberBlacklisted', data: { blacklist_id, user_id, phone_number, reason: null, created_at: at }
})

export const unlisted = (phone_number: string, blacklist_id = 1, user_id = '1') => on(phone_number, user_id, {
  type: 'PhoneNumberUnblacklisted', data: { blacklist_id, user_id, phone_number, deleted_at: at }
})
