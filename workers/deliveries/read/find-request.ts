// What was sent last for a delivery, as its owner is shown it.
import type { Pool } from 'pg'
import type { DeliveryRequest } from '../../../src/features/webhooks/model.js'
import { requestHeaders } from '../request-headers.js'

interface RequestRow { body: string | null, url: string, n: number, started_at: Date }

/** The request of the newest attempt that was started; null before the first. @param version of Ringledger */
export async function findRequest (pool: Pool, id: string, version: string): Promise<DeliveryRequest | null> {
  const { rows: [row] } = await pool.query<RequestRow>({
    name: 'find-request',
    text: `
    SELECT d.body, e.url, a.n, a.started_at
    FROM ledger.webhook_deliveries d
    JOIN ledger.all_webhook_attempts a ON a.delivery_id = d.id
    JOIN ledger.webhook_endpoints e ON e.id = a.endpoint_id
    WHERE d.id = $1 AND a.started_at IS NOT NULL ORDER BY a.started_at DESC LIMIT 1`,
    values: [id]
  })
  if (!row) return null
  const { body, url, n: attempt, started_at: at } = row
  return { method: 'POST', url: withoutQuery(url), headers: requestHeaders({ id, attempt, at }, version), body }
}

function withoutQuery (text: string): string {
  if (!URL.canParse(text)) return text
  const url = new URL(text)
  return url.origin + url.pathname
}
