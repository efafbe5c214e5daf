// `ringledger webhooks list`: deliveries of all users, newest first.
import Table from 'cli-table3'
import { listDeliveries } from '../../../workers/deliveries/find-deliveries.js'
import type { Delivery } from '../../domain/webhook/delivery.js'
import { withConnections } from '../running/back-ends.js'

export interface ListOptions {
  user?: string
  assistant?: number
  call?: string
  status?: Delivery['status']
  limit: number
  json?: boolean
}

export async function listWebhooks ({ user: userId, assistant: assistantId, call: callId, status, limit, json }: ListOptions): Promise<void> {
  const { items, total } = await withConnections('ringledger webhooks list', ({ pool }) =>
    listDeliveries(pool, { userId, assistantId, callId, status }, { page: 1, perPage: limit }))
  if (json) return void process.stdout.write(`${JSON.stringify(items, undefined, 2)}\n`)
  const table = new Table({ head: ['delivery', 'call', 'assistant', 'type', 'status', 'reason', 'attempts', 'next attempt', 'created'], style: { head: [], border: [] } })
  for (const { id, call_id, assistant_id, type, status, reason, attempt_count, next_attempt_at, created_at } of items) {
    table.push([id, call_id ?? '', assistant_id ?? '', type, status, reason ?? '', attempt_count, next_attempt_at ?? '', created_at])
  }
  process.stdout.write(`${table.toString()}\n${items.length} of ${total}\n`)
}
