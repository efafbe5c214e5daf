// The dispatcher's tables, as of the beginning of a log.
import type { Pool } from 'pg'
import { dispatcherCheckpoint } from '../../../src/recovery/database-state.js'

export async function emptyDispatchState (pool: Pool): Promise<void> {
  await pool.query(`TRUNCATE ledger.dispatch_assistants, ledger.dispatch_leads, ledger.dispatch_campaigns,
    ledger.dispatch_blacklist, ledger.webhook_deliveries, ledger.webhook_endpoints, ledger.parked_events CASCADE`)
  await pool.query(`UPDATE ${dispatcherCheckpoint} SET position = 0`)
}
