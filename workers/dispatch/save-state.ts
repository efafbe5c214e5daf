// Writes back what a batch changed of the dispatch state.
import type { PoolClient } from 'pg'
import type { DispatchState, KnownAssistant, KnownCampaign, KnownLead } from './state.js'

export async function saveState (tx: PoolClient, state: DispatchState): Promise<void> {
  const { assistants, leads, campaigns, changed } = state
  await saveAssistants(tx, chosen(assistants, changed.assistants))
  await saveLeads(tx, chosen(leads, changed.leads))
  await saveCampaigns(tx, chosen(campaigns, changed.campaigns))
}

function chosen<Row> (rows: Map<number, Row>, ids: Set<number>): Row[] {
  return [...ids].flatMap((id) => rows.get(id) ?? [])
}

async function saveAssistants (tx: PoolClient, rows: KnownAssistant[]): Promise<void> {
  if (rows.length === 0) return
  await tx.query(`
    INSERT INTO ledger.dispatch_assistants (assistant_id, user_id, revision, settings)
    SELECT * FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::json[])
    ON CONFLICT (assistant_id) DO UPDATE SET revision = excluded.revision, settings = excluded.settings`, [
    rows.map((row) => row.assistant_id),
    rows.map((row) => row.user_id),
    rows.map((row) => row.revision),
    rows.map((row) => JSON.stringify(row.settings))
  ])
}

async function saveLeads (tx: PoolClient, rows: KnownLead[]): Promise<void> {
  if (rows.length === 0) return
  await tx.query(`
    INSERT INTO ledger.dispatch_leads AS kept
      (contact_id, user_id, campaign_id, phone_number, variables, status, newest_report_at, primary_id, revision)
    SELECT * FROM unnest(
      $1::bigint[], $2::text[], $3::bigint[], $4::text[], $5::json[], $6::text[], $7::timestamptz[], $8::bigint[], $9::bigint[])
    ON CONFLICT (contact_id) DO UPDATE SET
      status = excluded.status, newest_report_at = excluded.newest_report_at, revision = excluded.revision,
      variables = CASE WHEN excluded.revision > kept.revision THEN excluded.variables ELSE kept.variables END`, [
    rows.map((row) => row.id),
    rows.map((row) => row.user_id),
    rows.map((row) => row.campaign_id),
    rows.map((row) => row.phone_number),
    rows.map((row) => JSON.stringify(row.variables)),
    rows.map((row) => row.status),
    rows.map((row) => row.newest_report_at),
    rows.map((row) => row.primary_id),
    rows.map((row) => row.revision)
  ])
}

async function saveCampaigns (tx: PoolClient, rows: KnownCampaign[]): Promise<void> {
  if (rows.length === 0) return
  await tx.query(`
    INSERT INTO ledger.dispatch_campaigns (campaign_id, revision, name)
    SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::json[])
    ON CONFLICT (campaign_id) DO UPDATE SET revision = excluded.revision, name = excluded.name`, [
    rows.map((row) => row.campaign_id),
    rows.map((row) => row.revision),
    rows.map((row) => JSON.stringify(row.name))
  ])
}
