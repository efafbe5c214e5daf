// Writes back what a batch changed of the dispatch state.
import type { PoolClient } from 'pg'
import type { KnownRows } from './known-rows.js'
import type { Listing } from './listings.js'
import type { DispatchState, KnownAssistant, KnownCampaign, KnownLead } from './state.js'

/** Rows to be written, as a statement by itself or as a part of a larger one. */
export interface Writing {
  name: string
  values: unknown[]
  /**
   * @param after how many parameters of the larger statement come before `values`
   * @param condition a relation of it that has one row, or none when nothing is to be written
   */
  text (after?: number, condition?: string): string
}

export async function saveState (tx: PoolClient, state: DispatchState): Promise<void> {
  for (const { text, values } of changesOf(state)) await tx.query(text(), values)
}

/** What the batch changed, a table each. */
export function changesOf ({ assistants, leads, campaigns, listings, changed }: DispatchState): Writing[] {
  const tables = [
    saveAssistants(chosen(assistants, changed.assistants)),
    saveLeads(chosen(leads, changed.leads)),
    saveCampaigns(chosen(campaigns, changed.campaigns)),
    saveListings(listings.changes())
  ]
  return tables.flatMap((writing) => writing ?? [])
}

function chosen<Row extends object> (rows: KnownRows<Row>, ids: Set<number>): Row[] {
  return [...ids].flatMap((id) => rows.get(id) ?? [])
}

/** Rows of these columns as the relation `changed`, a parameter each. */
function changedRows (types: string[], after = 0, condition?: string): string {
  const columns = types.map((type, index) => `$${after + index + 1}::${type}[]`)
  return `${condition === undefined ? '' : `${condition}, `}unnest(${columns.join(', ')}) AS changed`
}

function saveAssistants (rows: KnownAssistant[]): Writing | undefined {
  if (rows.length === 0) return undefined
  return {
    name: 'assistants',
    values: [
      rows.map((row) => row.assistant_id),
      rows.map((row) => row.user_id),
      rows.map((row) => row.revision),
      rows.map((row) => JSON.stringify(row.settings))
    ],
    text: (after, condition) => `
      INSERT INTO ledger.dispatch_assistants (assistant_id, user_id, revision, settings)
      SELECT changed.* FROM ${changedRows(['bigint', 'text', 'bigint', 'json'], after, condition)}
      ON CONFLICT (assistant_id) DO UPDATE SET revision = excluded.revision, settings = excluded.settings`
  }
}

const leadTypes = ['bigint', 'text', 'bigint', 'text', 'json', 'text', 'timestamptz', 'bigint', 'bigint']

function saveLeads (rows: KnownLead[]): Writing | undefined {
  if (rows.length === 0) return undefined
  return {
    name: 'leads',
    values: [
      rows.map((row) => row.id),
      rows.map((row) => row.user_id),
      rows.map((row) => row.campaign_id),
      rows.map((row) => row.phone_number),
      rows.map((row) => JSON.stringify(row.variables)),
      rows.map((row) => row.status),
      rows.map((row) => row.newest_report_at),
      rows.map((row) => row.primary_id),
      rows.map((row) => row.revision)
    ],
    text: (after, condition) => `
      INSERT INTO ledger.dispatch_leads AS kept
        (contact_id, user_id, campaign_id, phone_number, variables, status, newest_report_at, primary_id, revision)
      SELECT changed.* FROM ${changedRows(leadTypes, after, condition)}
      ON CONFLICT (contact_id) DO UPDATE SET
        status = excluded.status, newest_report_at = excluded.newest_report_at, revision = excluded.revision,
        variables = CASE WHEN excluded.revision > kept.revision THEN excluded.variables ELSE kept.variables END`
  }
}

function saveCampaigns (rows: KnownCampaign[]): Writing | undefined {
  if (rows.length === 0) return undefined
  return {
    name: 'campaigns',
    values: [
      rows.map((row) => row.campaign_id),
      rows.map((row) => row.revision),
      rows.map((row) => JSON.stringify(row.name))
    ],
    text: (after, condition) => `
      INSERT INTO ledger.dispatch_campaigns (campaign_id, revision, name)
      SELECT changed.* FROM ${changedRows(['bigint', 'bigint', 'json'], after, condition)}
      ON CONFLICT (campaign_id) DO UPDATE SET revision = excluded.revision, name = excluded.name`
  }
}

function saveListings (rows: Listing[]): Writing | undefined {
  if (rows.length === 0) return undefined
  return {
    name: 'listings',
    values: [
      rows.map((row) => row.user_id),
      rows.map((row) => row.phone_number),
      rows.map((row) => row.is_listed),
      rows.map((row) => row.revision)
    ],
    text: (after, condition) => `
      INSERT INTO ledger.dispatch_blacklist (user_id, phone_number, is_listed, revision)
      SELECT changed.* FROM ${changedRows(['text', 'text', 'boolean', 'bigint'], after, condition)}
      ON CONFLICT (user_id, phone_number) DO UPDATE SET is_listed = excluded.is_listed, revision = excluded.revision`
  }
}
