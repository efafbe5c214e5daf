// Where the dispatcher keeps what it knows: loaded for a batch, written back at once.
import type { PoolClient } from 'pg'
import type { DomainEvent } from '../../src/domain/events.js'
import { DispatchState, type KnownLead } from './state.js'
import type { RelevantSettings } from './payload.js'

/** Up to which positions calls without a row are not sent, and what was acted on is read again: after something was restored. */
export interface Again { skipUntil: bigint, rereadUntil: bigint }

/** Loads what `events` and the calls in `callIds` touch. */
export async function loadState (tx: PoolClient, events: DomainEvent[], callIds: string[]): Promise<{ state: DispatchState, again: Again }> {
  const state = new DispatchState()
  const assistantIds = events.flatMap(({ data }) => 'assistant_id' in data ? data.assistant_id : [])
  await loadAssistants(tx, state, assistantIds)
  await loadLeads(tx, state, events.flatMap(contactIds))
  const campaignIds = events.flatMap(({ data }) => 'campaign_id' in data ? data.campaign_id : [])
  await loadCampaigns(tx, state, [...campaignIds, ...[...state.leads.values()].map((lead) => lead.campaign_id)])
  return { state, again: await loadCalls(tx, state, callIds) }
}

function contactIds ({ type, data }: DomainEvent): number[] {
  if (type === 'CallCompleted') return data.lead_id === null ? [] : [data.lead_id]
  return type === 'LeadCreated' ? [data.lead_id, ...data.secondary_contacts.map(({ id }) => id)] : []
}

async function loadAssistants (tx: PoolClient, { assistants }: DispatchState, ids: number[]): Promise<void> {
  if (ids.length === 0) return
  const { rows } = await tx.query<{ assistant_id: string, user_id: string, revision: string, settings: RelevantSettings }>({
    name: 'load-assistants',
    text: 'SELECT assistant_id, user_id, revision, settings FROM ledger.dispatch_assistants WHERE assistant_id = ANY($1::bigint[])',
    values: [[...new Set(ids)]]
  })
  for (const row of rows) assistants.set(Number(row.assistant_id), { ...row, assistant_id: Number(row.assistant_id), revision: BigInt(row.revision) })
}

async function loadLeads (tx: PoolClient, { leads }: DispatchState, ids: number[]): Promise<void> {
  if (ids.length === 0) return
  const { rows } = await tx.query<Omit<KnownLead, 'id' | 'campaign_id'> & { contact_id: string, campaign_id: string }>(
    'SELECT contact_id, user_id, campaign_id, phone_number, variables, status FROM ledger.dispatch_leads WHERE contact_id = ANY($1::bigint[])', [ids])
  for (const { contact_id, ...row } of rows) leads.set(Number(contact_id), { ...row, id: Number(contact_id), campaign_id: Number(row.campaign_id) })
}

async function loadCampaigns (tx: PoolClient, { campaigns }: DispatchState, ids: number[]): Promise<void> {
  if (ids.length === 0) return
  const { rows } = await tx.query<{ campaign_id: string, revision: string, name: string }>(
    'SELECT campaign_id, revision, name FROM ledger.dispatch_campaigns WHERE campaign_id = ANY($1::bigint[])', [ids])
  for (const row of rows) campaigns.set(Number(row.campaign_id), { ...row, campaign_id: Number(row.campaign_id), revision: BigInt(row.revision) })
}

/** What is read again comes along: there is always one row of it, also when there is no call. */
async function loadCalls (tx: PoolClient, { calls }: DispatchState, ids: string[]): Promise<Again> {
  const { rows } = await tx.query<{ skip_until: string, reread_until: string, call_id: string | null, last_position: string }>({
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
  const assistants = chosen(state.assistants, state.changed.assistants)
  if (assistants.length > 0) {
    await tx.query(`
      INSERT INTO ledger.dispatch_assistants (assistant_id, user_id, revision, settings)
      SELECT * FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::json[])
      ON CONFLICT (assistant_id) DO UPDATE SET revision = excluded.revision, settings = excluded.settings`,
    [assistants.map((row) => row.assistant_id), assistants.map((row) => row.user_id), assistants.map((row) => row.revision), assistants.map((row) => JSON.stringify(row.settings))])
  }
  const leads = chosen(state.leads, state.changed.leads)
  if (leads.length > 0) {
    await tx.query(`
      INSERT INTO ledger.dispatch_leads (contact_id, user_id, campaign_id, phone_number, variables, status)
      SELECT * FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::text[], $5::json[], $6::text[])
      ON CONFLICT (contact_id) DO UPDATE SET status = excluded.status`,
    [leads.map((row) => row.id), leads.map((row) => row.user_id), leads.map((row) => row.campaign_id), leads.map((row) => row.phone_number), leads.map((row) => JSON.stringify(row.variables)), leads.map((row) => row.status)])
  }
  const campaigns = chosen(state.campaigns, state.changed.campaigns)
  if (campaigns.length > 0) {
    await tx.query(`
      INSERT INTO ledger.dispatch_campaigns (campaign_id, revision, name)
      SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::json[])
      ON CONFLICT (campaign_id) DO UPDATE SET revision = excluded.revision, name = excluded.name`,
    [campaigns.map((row) => row.campaign_id), campaigns.map((row) => row.revision), campaigns.map((row) => JSON.stringify(row.name))])
  }
}

function chosen<Row> (rows: Map<number, Row>, ids: Set<number>): Row[] {
  return [...ids].flatMap((id) => rows.get(id) ?? [])
}
