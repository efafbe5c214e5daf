// `ringledger webhooks list`: deliveries of all users, newest first.
import { Option, type Command } from 'commander'
import type { Delivery } from '../../features/webhooks/delivery.js'
import { printJson, tableOf } from '../running/output.js'
import { withConnections } from '../running/with-connections.js'
import { wholeNumber } from '../values.js'
import { ofAssistant, ofUser } from './filters.js'

interface ListOptions {
  user?: string
  assistant?: number
  call?: string
  status?: Delivery['status']
  reason?: string
  limit: number
  json?: boolean
}

const statuses = ['scheduled', 'delivered', 'held', 'exhausted', 'cancelled', 'skipped']

export function register (webhooks: Command): void {
  webhooks.command('list')
    .description('deliveries, newest first')
    .addOption(ofUser())
    .addOption(ofAssistant())
    .option('--call <id>', 'only that of this call')
    .addOption(new Option('--status <status>', 'only those with this status').choices(statuses))
    .option('--reason <reason>', 'only those with this reason, such as invalid')
    .addOption(new Option('--limit <n>', 'how many').argParser(wholeNumber).default(50))
    .option('--json', 'for programs')
    .action(listWebhooks)
}

async function listWebhooks (
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
