// A delivery rig without workers: what the dispatcher makes of events.
import { webhookTo } from '../events/call-events.js'
import type { Answer } from '../http/answer.js'
import { deliveryRig, type Rig, type Row } from './delivery-rig.js'
import type { Teardown } from '../teardown.js'

export const url = 'https://hooks.example.com/calls'
export const webhookOn = webhookTo(url)

export const dispatchRig = (t: Teardown) => deliveryRig(t, { works: false, enqueues: false })

/** The only delivery, with the data of its body. */
export async function onlyDelivery ({ deliveries }: Rig): Promise<Row & { data: Answer['body'] }> {
  const [row, ...more] = await deliveries()
  if (!row || more.length > 0) throw new Error(`there are ${more.length + (row ? 1 : 0)} rows`)
  return { ...row, data: typeof row.body === 'string' ? JSON.parse(row.body).data : undefined }
}

export async function tables ({ pool }: Rig): Promise<Row[][]> {
  const names = ['dispatch_assistants', 'dispatch_leads', 'dispatch_campaigns', 'dispatch_blacklist', 'webhook_endpoints']
  const results = await Promise.all(names.map((name) => pool.query<Row>(`SELECT * FROM ledger.${name} ORDER BY 1`)))
  return results.map(({ rows }) => rows)
}
