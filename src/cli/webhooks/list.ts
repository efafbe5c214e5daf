// `ringledger webhooks list`: deliveries of all users, newest first.
import type { Delivery } from '../../features/webhooks/delivery.js'
import { printJson, tableOf } from '../output.js'
import { withConnections } from '../running.js'

interface ListOptions {
  user?: string
  assistant?: number
  call?: string
  status?: Delivery['status']
  reason?: string
  limit: number
  json?: boolean
}

export async function listWebhooks (
  { user: userId, assistant: assistantId, call: callId, status, reason, limit, json }: ListOptions
): Promise<void> {
  const [{ listDeliveries }, { findReceivers }] = await Promise.all([
    import('../../../workers/deliveries/read/find-deliveries.js'),
    import('../../../workers/deliveries/read/find-receivers.js')
  ])
  const { items, total } = await withConnections('ringledger webhooks list', async ({ pool }) => {
    const wanted = { userId, assistantId, callId, status, reason }
    const { items, total, next } = await listDeliveries(pool, wanted, { page: 1, perPage: limit })
    for (let after = next; after && items.length < limit;) { // a page has a bound in bytes
      const page = await listDeliveries(pool, wanted, { after, perPage: limit - items.length })
      items.push(...page.items)
      after = page.next
    }
    const receivers = await findReceivers(pool, items.map(({ id }) => id))
    return { items: items.map((item) => ({ ...item, ...receivers.get(item.id) })), total }
  })
  if (json) return printJson(items)
  const head = [
    'delivery', 'call', 'user', 'assistant', 'endpoint', 'type', 'status', 'reason', 'attempts', 'next attempt', 'created'
  ]
  const rows = items.map((each) => [
    each.id, each.call_id ?? '', each.user_id ?? '', each.assistant_id ?? '', each.endpoint ?? '', each.type, each.status,
    each.reason ?? '', each.attempt_count, each.next_attempt_at ?? '', each.created_at
  ])
  process.stdout.write(`${await tableOf(rows, head)}${items.length} of ${total?.isExact === false ? 'more than ' : ''}${total?.count}\n`)
}
