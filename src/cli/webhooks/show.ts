// `ringledger webhooks show`: one delivery with every attempt.
import Table from 'cli-table3'
import { findDelivery } from '../../../workers/deliveries/find-deliveries.js'
import { withConnections } from '../running/back-ends.js'

export async function showWebhook (id: string, { json }: { json?: boolean }): Promise<void> {
  const delivery = await withConnections('ringledger webhooks show', ({ pool }) => findDelivery(pool, undefined, id))
  if (!delivery) throw new Error(`there is no delivery ${id}`)
  if (json) return void process.stdout.write(`${JSON.stringify(delivery, undefined, 2)}\n`)
  const { attempts, ...rest } = delivery
  const style = { head: [], border: [] }
  const summary = new Table({ style })
  for (const [name, value] of Object.entries(rest)) summary.push([name, value ?? ''])
  const table = new Table({ head: ['trigger', 'n', 'started', 'ms', 'outcome', 'status', 'error'], style })
  for (const { trigger, n, started_at, duration_ms, outcome, status_code, error } of attempts) {
    table.push([trigger, n, started_at ?? 'waits', duration_ms ?? '', outcome ?? '', status_code ?? '', error ?? ''])
  }
  process.stdout.write(`${summary.toString()}\n${table.toString()}\n`)
}
