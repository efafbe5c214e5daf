// Writes back what a batch changed of the dispatch state.
import type { PoolClient } from 'pg'
import { hidden } from '../../deliveries/hidden.js'
import type { KnownRows } from './known-rows.js'
import type { Listing } from './listings.js'
import type { KnownAssistant, KnownCampaign, KnownLead } from './known.js'
import type { DispatchState } from './state.js'

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

/** What the batch changed. Rows that were taken for absent are inserted: the statement fails where one is there. */
export function changesOf (state: DispatchState): Writing[] {
  const { assistants, leads, campaigns, listings, changed, presumedAbsent: absent } = state
  return [
    ...writings('assistants', assistantTable, chosen(assistants, changed.assistants, absent.assistants)),
    ...writings('leads', leadTable, chosen(leads, changed.leads, absent.leads)),
    ...writings('campaigns', campaignTable, chosen(campaigns, changed.campaigns, absent.campaigns)),
    ...writings('listings', listingTable, { inserted: [], saved: listings.changes() })
  ]
}

interface Chosen<Row> { inserted: Row[], saved: Row[] }

function chosen<Row extends object> (rows: KnownRows<Row>, ids: Set<number>, absent: Set<number>): Chosen<Row> {
  const those = (isAbsent: boolean) => [...ids].flatMap((id) => absent.has(id) === isAbsent ? rows.get(id) ?? [] : [])
  return { inserted: those(true), saved: those(false) }
}

interface Table<Row> {
  into: string
  /** The type of each column, and its value. */
  columns: Array<[type: string, value: (row: Row) => unknown]>
  onConflict: string
}

const assistantTable: Table<KnownAssistant> = {
  into: 'dispatch_assistants (assistant_id, user_id, revision, settings)',
  columns: [
    ['bigint', (row) => row.assistant_id],
    ['text', (row) => row.user_id],
    ['bigint', (row) => row.revision],
    ['json', (row) => JSON.stringify(row.settings)]
  ],
  onConflict: '(assistant_id) DO UPDATE SET revision = excluded.revision, settings = excluded.settings'
}

const leadTable: Table<KnownLead> = {
  into: 'dispatch_leads AS kept ' +
    '(contact_id, user_id, campaign_id, phone_number, variables, status, newest_report_at, primary_id, revision, is_erased)',
  columns: [
    ['bigint', (row) => row.id],
    ['text', (row) => row.user_id],
    ['bigint', (row) => row.campaign_id],
    ['text', (row) => row.phone_number],
    ['json', (row) => JSON.stringify(row.variables)],
    ['text', (row) => row.status],
    ['timestamptz', (row) => row.newest_report_at],
    ['bigint', (row) => row.primary_id],
    ['bigint', (row) => row.revision],
    ['boolean', (row) => row.is_erased ?? false]
  ],
  onConflict: `(contact_id) DO UPDATE SET
    status = excluded.status, newest_report_at = excluded.newest_report_at, revision = excluded.revision,
    is_erased = excluded.is_erased,
    variables = CASE WHEN excluded.revision > kept.revision THEN excluded.variables ELSE kept.variables END,
    phone_number = CASE WHEN excluded.revision > kept.revision THEN excluded.phone_number ELSE kept.phone_number END`
}

const campaignTable: Table<KnownCampaign> = {
  into: 'dispatch_campaigns (campaign_id, revision, name)',
  columns: [
    ['bigint', (row) => row.campaign_id],
    ['bigint', (row) => row.revision],
    ['json', (row) => JSON.stringify(row.name)]
  ],
  onConflict: '(campaign_id) DO UPDATE SET revision = excluded.revision, name = excluded.name'
}

const listingTable: Table<Listing> = {
  into: 'dispatch_blacklist (user_id, phone_number, is_listed, revision)',
  columns: [
    ['text', (row) => row.user_id],
    ['text', (row) => row.phone_number],
    ['boolean', (row) => row.is_listed],
    ['bigint', (row) => row.revision]
  ],
  onConflict: '(user_id, phone_number) DO UPDATE SET is_listed = excluded.is_listed, revision = excluded.revision'
}

function writings<Row> (name: string, table: Table<Row>, { inserted, saved }: Chosen<Row>): Writing[] {
  const kinds = [{ name: `new_${name}`, rows: inserted, onConflict: '' },
    { name, rows: saved, onConflict: `ON CONFLICT ${table.onConflict}` }]
  return kinds.filter(({ rows }) => rows.length > 0).map(({ name, rows, onConflict }) => ({
    name,
    values: table.columns.map(([, value]) => rows.map(value)),
    text: (after, condition) => `${insertion(table, after, condition)} ${onConflict}`
  }))
}

/** A parameter for each column. */
function insertion<Row> ({ into, columns }: Table<Row>, after = 0, condition?: string): string {
  const parameters = columns.map(([type], index) => hidden(after + index + 1, type))
  return `
    INSERT INTO ledger.${into}
    SELECT changed.* FROM ${condition === undefined ? '' : `${condition}, `}unnest(${parameters.join(', ')}) AS changed`
}
