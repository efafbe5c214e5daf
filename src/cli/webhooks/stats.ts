// `ringledger webhooks stats`: the ledger in numbers, and whether every call in the log has its row.
import Table from 'cli-table3'
import { unaccounted, type Accounts } from '../../../workers/operate/audit.js'
import { webhookStats, type Stats } from '../../../workers/operate/stats.js'
import { withConnections } from '../running/back-ends.js'
import { operate } from '../running/operation.js'

/** @throws when calls are unaccounted for, after the numbers were told */
export async function showWebhookStats ({ json }: { json?: boolean }): Promise<void> {
  const stats = await operate('stopped before everything was counted', async ({ signal }) => await withConnections('ringledger webhooks stats', async ({ pool, streams }) =>
    ({ ...await webhookStats(pool), ...await unaccounted({ pool, streams, signal }) })))
  process.stdout.write(json ? `${JSON.stringify(stats, undefined, 2)}\n` : tableOf(stats))
  if (stats.unaccounted !== 0) throw new Error(`${stats.unaccounted} calls are unaccounted for: the log has ${stats.calls} up to the dispatcher's checkpoint, the ledger has rows for ${stats.rows}`)
}

function tableOf ({ statuses, due, suspended_endpoints, calls, rows, unaccounted }: Stats & Accounts): string {
  const table = new Table({ style: { head: [], border: [] } })
  for (const [status, count] of Object.entries(statuses)) table.push([status, count])
  table.push(
    ['due and waiting', due.waiting], ['due and under way', due.under_way], ['oldest due', due.oldest ?? 'none'], ['suspended endpoints', suspended_endpoints],
    ['calls in the log', calls], ['calls in the ledger', rows], ['unaccounted', unaccounted])
  return `${table.toString()}\n`
}
