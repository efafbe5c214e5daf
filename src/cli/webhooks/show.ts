// `ringledger webhooks show ID`: one delivery with its newest attempts.
import { printJson, tableOf } from '../output.js'
import { withConnections } from '../running.js'

export async function showWebhook (id: string, { json }: { json?: boolean }): Promise<void> {
  const [{ findDelivery }, { findReceivers }, { whyInvalid }] = await Promise.all([
    import('../../../workers/deliveries/read/find-deliveries.js'), import('../../../workers/deliveries/read/find-receivers.js'),
    import('../../../workers/operate/why-invalid.js')
  ])
  const delivery = await withConnections('ringledger webhooks show', async ({ pool, streams }) => {
    const delivery = await findDelivery(pool, undefined, id)
    const found = delivery && { ...delivery, ...(await findReceivers(pool, [delivery.id])).get(delivery.id) }
    if (!found || found.call_id === null || found.reason !== 'invalid') return found
    return { ...found, problem: await whyInvalid(streams, found.call_id) }
  })
  if (!delivery) throw new Error(`there is no delivery ${id}`)
  if (json) return printJson(delivery)
  const { attempts, ...rest } = delivery
  const head = ['trigger', 'n', 'started', 'ms', 'outcome', 'status', 'error']
  const rows = attempts.map(({ trigger, n, started_at, duration_ms, outcome, status_code, error }) =>
    [trigger, n, started_at ?? 'waits', duration_ms ?? '', outcome ?? '', status_code ?? '', error ?? ''])
  const summary = await tableOf(Object.entries(rest).map(([name, value]) => [name, value ?? '']))
  process.stdout.write(summary + await tableOf(rows, head))
}
