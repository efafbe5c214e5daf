// `ringledger webhooks stats`: the delivery log in numbers, and whether every call in the log has its row.
import type { Audit } from '../../../workers/operate/audit.js'
import type { Stats } from '../../../workers/operate/stats.js'
import { printJson, tableOf } from '../output.js'
import { withConnections } from '../running.js'

/** @throws when calls are unaccounted for, after the numbers were printed */
export async function showWebhookStats ({ json }: { json?: boolean }): Promise<void> {
  const [{ operate }, { audit }, { webhookStats }] = await Promise.all([
    import('../shutdown.js'),
    import('../../../workers/operate/audit.js'),
    import('../../../workers/operate/stats.js')
  ])
  const stats = await operate('stopped before everything was counted', ({ signal }) =>
    withConnections('ringledger webhooks stats', async ({ pool, streams }) =>
      ({ ...await webhookStats(pool), ...await audit({ pool, streams, signal }) })))
  if (json) printJson(stats)
  else process.stdout.write(await tableOf(rowsOf(stats)))
  if (stats.unaccounted === 0) return
  throw new Error(`${stats.unaccounted} calls are unaccounted for: ` +
    `the log has ${stats.calls} up to the dispatcher's checkpoint, the delivery log has rows for ${stats.rows}`)
}

function rowsOf ({ statuses, due, suspended_endpoints: suspended, calls, rows, unaccounted }: Stats & Audit) {
  return [
    ...Object.entries(statuses),
    ['due and waiting', due.waiting],
    ['due and under way', due.under_way],
    ['oldest due', due.oldest ?? 'none'],
    ['suspended endpoints', suspended],
    ['calls in the log', calls],
    ['calls in the delivery log', rows],
    ['unaccounted', unaccounted]
  ]
}
