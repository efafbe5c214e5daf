// The tables of the dispatch state: loaded for a batch, written back at once.
import type { PoolClient } from 'pg'
import type { DomainEvent } from '../../src/domain/events.js'
import type { RelevantSettings } from './payload.js'
import { DispatchState, type KnownAssistant, type KnownCampaign, type KnownLead } from './state.js'

/** After a restore: up to `skipUntil` new calls are not sent, up to `rereadUntil` effects are not repeated. */
export interface Restored { skipUntil: bigint, rereadUntil: bigint }

/** Loads what `events` and the calls in `callIds` read or change. */
export async function loadState (
  tx: PoolClient, events: DomainEvent[], callIds: string[]
): Promise<{ state: DispatchState, restored: Restored }> {
  const state = new DispatchState()
  await loadAssistants(tx, state, events.flatMap(({ data }) => 'assistant_id' in data ? data.assistant_id : []))
  await loadLeads(tx, state, events.flatMap(contactIds))
  const campaignsOfLeads = [...state.leads.values()].map((lead) => lead.campaign_id)
  const campaigns = events.flatMap(({ data }) => 'campaign_id' in data ? data.campaign_id : [])
  await loadCampaigns(tx, state, [...campaigns, ...campaignsOfLeads])
  return { state, restored: await loadCalls(tx, state, callIds) }
}

function contactIds ({ type, data }: DomainEvent): number[] {
  if (type === 'CallCompleted') return data.lead_id === null ? [] : [data.lead_id]
  return type === 'LeadCreated' ? [data.lead_id, ...data.secondary_contacts.map(({ id }) => id)] : []
}

interface AssistantRow { assistant_id: string, user_id: string, revision: string, settings: RelevantSettings }
interface LeadRow extends Omit<KnownLead, 'id' | 'campaign_id' | 'newest_report_at'> {
  contact_id: string
  campaign_id: string
  newest_report_at: Date | null
}
interface CampaignRow { campaign_id: string, revision: string, name: string }
interface CallRow { skip_until: string, reread_until: string, call_id: string | null, last_position: string }

async function loadAssistants (tx: PoolClient, { assistants }: DispatchState, ids: number[]): Promise<void> {
  if (ids.length === 0) return
  const { rows } = await tx.query<AssistantRow>({
    name: 'load-assistants',
    text: `
    SELECT assistant_id, user_id, revision, settings FROM ledger.dispatch_assistants
    WHERE assistant_id = ANY($1::bigint[])`,
    values: [[...new Set(ids)]]
  })
  for (const { assistant_id, revision, ...row } of rows) {
    const id = Number(assistant_id)
    assistants.set(id, { ...row, assistant_id: id, revision: BigInt(revision) })
  }
}

async function loadLeads (tx: PoolClient, { leads }: DispatchState, ids: number[]): Promise<void> {
  if (ids.length === 0) return
  const { rows } = await tx.query<LeadRow>(`
    SELECT contact_id, user_id, campaign_id, phone_number, variables, status, newest_report_at
    FROM ledger.dispatch_leads WHERE contact_id = ANY($1::bigint[])`, [ids])
  for (const { contact_id, campaign_id, newest_report_at: newest, ...row } of rows) {
    const [id, newest_report_at] = [Number(contact_id), newest?.toISOString() ?? null]
    leads.set(id, { ...row, id, campaign_id: Number(campaign_id), newest_report_at })
  }
}

async function loadCampaigns (tx: PoolClient, { campaigns }: DispatchState, ids: number[]): Promise<void> {
  if (ids.length === 0) return
  const { rows } = await tx.query<CampaignRow>(`
    SELECT campaign_id, revision, name FROM ledger.dispatch_campaigns
    WHERE campaign_id = ANY($1::bigint[])`, [ids])
  for (const { campaign_id, revision, name } of rows) {
    const id = Number(campaign_id)
    campaigns.set(id, { campaign_id: id, revision: BigInt(revision), name })
  }
}

/** The positions of a restore come along: they are in every row, and there is a row without a call too. */
async function loadCalls (tx: PoolClient, { calls }: DispatchState, ids: string[]): Promise<Restored> {
  const { rows } = await tx.query<CallRow>({
    name: 'load-calls',
    text: `
    SELECT skip_until, reread_until, call_id, last_position
    FROM ledger.this_database LEFT JOIN ledger.webhook_deliveries ON call_id = ANY($1) AND type = 'call.completed'`,
    values: [ids]
  })
  for (const { call_id, last_position } of rows) if (call_id !== null) calls.set(call_id, BigInt(last_position))
  return { skipUntil: BigInt(rows[0]?.skip_until ?? 0), rereadUntil: BigInt(rows[0]?.reread_until ?? 0) }
}

/** Writes back what the batch changed. */
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
    INSERT INTO ledger.dispatch_leads (contact_id, user_id, campaign_id, phone_number, variables, status, newest_report_at)
    SELECT * FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::text[], $5::json[], $6::text[], $7::timestamptz[])
    ON CONFLICT (contact_id) DO UPDATE SET status = excluded.status, newest_report_at = excluded.newest_report_at`, [
    rows.map((row) => row.id),
    rows.map((row) => row.user_id),
    rows.map((row) => row.campaign_id),
    rows.map((row) => row.phone_number),
    rows.map((row) => JSON.stringify(row.variables)),
    rows.map((row) => row.status),
    rows.map((row) => row.newest_report_at)
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
