// What the dispatcher knows of assistants, leads and campaigns: loaded for a batch, folded in memory, written back at once.
import type { PoolClient } from 'pg'
import type { AssistantEvent } from '../src/domain/assistant/events.js'
import type { AssistantSettings } from '../src/domain/assistant/settings.js'
import type { CatalogEvent } from '../src/domain/catalog/events.js'
import type { DomainEvent } from '../src/domain/events.js'
import { leadOf, type LeadStatus } from '../src/domain/lead/lead.js'
import type { LeadEvent } from '../src/domain/lead/events.js'
import type { Duplicate } from './deliveries.js'
import type { SettingsChange } from './endpoints.js'
import { relevantSettings, type PayloadAssistant, type PayloadLead, type RelevantSettings } from './payload.js'

export interface KnownAssistant extends PayloadAssistant { revision: bigint }
export type KnownLead = PayloadLead
export interface KnownCampaign { campaign_id: number, revision: bigint, name: string }

type Data<Event extends { type: string, data: object }, Type extends Event['type']> = Extract<Event, { type: Type }>['data']

/** The state that a batch touches. An event that is already in it, because the log is read again, changes nothing. */
export class Fold {
  readonly assistants = new Map<number, KnownAssistant>()
  readonly leads = new Map<number, KnownLead>()
  readonly campaigns = new Map<number, KnownCampaign>()
  /** Position of the newest event of each call that has a row. */
  readonly calls = new Map<string, bigint>()

  readonly changed = { assistants: new Set<number>(), leads: new Set<number>(), campaigns: new Set<number>() }
  readonly rerouted = new Map<number, SettingsChange>()
  readonly duplicates: Duplicate[] = []

  assistantCreated ({ assistant_id, user_id, settings }: Data<AssistantEvent, 'AssistantCreated'>, revision: bigint): void {
    if (this.assistants.has(assistant_id)) return
    this.assistants.set(assistant_id, { assistant_id, user_id, revision, settings: pickRelevant(settings) })
    this.changed.assistants.add(assistant_id)
  }

  assistantUpdated ({ assistant_id, changes }: Data<AssistantEvent, 'AssistantUpdated'>, revision: bigint): void {
    const known = this.assistants.get(assistant_id)
    if (!known || known.revision >= revision) return
    const settings = { ...known.settings, ...pickRelevant(changes) }
    this.assistants.set(assistant_id, { ...known, revision, settings })
    this.changed.assistants.add(assistant_id)
    if (changes.is_webhook_active === undefined && changes.webhook_url === undefined) return
    const switchedOn = changes.is_webhook_active === true || this.rerouted.get(assistant_id)?.switchedOn === true
    const url = settings.is_webhook_active ? settings.webhook_url : null
    this.rerouted.set(assistant_id, { assistant_id, user_id: known.user_id, url, switchedOn })
  }

  leadCreated (data: LeadEvent['data']): void {
    const { secondary_contacts, ...lead } = leadOf({ type: 'LeadCreated', data })
    for (const { id, phone_number, variables, status } of [lead, ...secondary_contacts]) {
      if (this.leads.has(id)) continue
      this.leads.set(id, { id, user_id: lead.user_id, campaign_id: lead.campaign_id, phone_number, variables, status })
      this.changed.leads.add(id)
    }
  }

  leadMoved (lead: KnownLead, status: LeadStatus): KnownLead {
    const moved = { ...lead, status }
    this.leads.set(lead.id, moved)
    if (status !== lead.status) this.changed.leads.add(lead.id)
    return moved
  }

  campaignNamed ({ campaign_id, name }: Data<CatalogEvent, 'CampaignCreated'>, revision: bigint): void {
    const known = this.campaigns.get(campaign_id)
    if (known && known.revision >= revision) return
    this.campaigns.set(campaign_id, { campaign_id, revision, name })
    this.changed.campaigns.add(campaign_id)
  }

  /** Whether the call has its row; a newer event of it is noted as a duplicate. */
  isKnownCall (call_id: string, position: bigint): boolean {
    const last = this.calls.get(call_id)
    if (last !== undefined && last < position) this.duplicates.push({ call_id, position })
    if (last === undefined || last < position) this.calls.set(call_id, position)
    return last !== undefined
  }
}

function pickRelevant<Given extends Partial<AssistantSettings>> (settings: Given): Pick<Given, keyof Given & keyof RelevantSettings> {
  const picked = relevantSettings.filter((name) => settings[name] !== undefined).map((name) => [name, settings[name]])
  return Object.fromEntries(picked)
}

/** Loads what `events` and the calls in `callIds` touch. */
export async function loadFold (tx: PoolClient, events: DomainEvent[], callIds: string[]): Promise<Fold> {
  const fold = new Fold()
  const assistantIds = events.flatMap(({ data }) => 'assistant_id' in data ? data.assistant_id : [])
  await loadAssistants(tx, fold, assistantIds)
  await loadLeads(tx, fold, events.flatMap(contactIds))
  const campaignIds = events.flatMap(({ data }) => 'campaign_id' in data ? data.campaign_id : [])
  await loadCampaigns(tx, fold, [...campaignIds, ...[...fold.leads.values()].map((lead) => lead.campaign_id)])
  await loadCalls(tx, fold, callIds)
  return fold
}

function contactIds ({ type, data }: DomainEvent): number[] {
  if (type === 'CallCompleted') return data.lead_id === null ? [] : [data.lead_id]
  return type === 'LeadCreated' ? [data.lead_id, ...data.secondary_contacts.map(({ id }) => id)] : []
}

async function loadAssistants (tx: PoolClient, { assistants }: Fold, ids: number[]): Promise<void> {
  if (ids.length === 0) return
  const { rows } = await tx.query<{ assistant_id: string, user_id: string, revision: string, settings: RelevantSettings }>(
    'SELECT assistant_id, user_id, revision, settings FROM ledger.dispatch_assistants WHERE assistant_id = ANY($1::bigint[])', [ids])
  for (const row of rows) assistants.set(Number(row.assistant_id), { ...row, assistant_id: Number(row.assistant_id), revision: BigInt(row.revision) })
}

async function loadLeads (tx: PoolClient, { leads }: Fold, ids: number[]): Promise<void> {
  if (ids.length === 0) return
  const { rows } = await tx.query<Omit<KnownLead, 'id' | 'campaign_id'> & { contact_id: string, campaign_id: string }>(
    'SELECT contact_id, user_id, campaign_id, phone_number, variables, status FROM ledger.dispatch_leads WHERE contact_id = ANY($1::bigint[])', [ids])
  for (const { contact_id, ...row } of rows) leads.set(Number(contact_id), { ...row, id: Number(contact_id), campaign_id: Number(row.campaign_id) })
}

async function loadCampaigns (tx: PoolClient, { campaigns }: Fold, ids: number[]): Promise<void> {
  if (ids.length === 0) return
  const { rows } = await tx.query<{ campaign_id: string, revision: string, name: string }>(
    'SELECT campaign_id, revision, name FROM ledger.dispatch_campaigns WHERE campaign_id = ANY($1::bigint[])', [ids])
  for (const row of rows) campaigns.set(Number(row.campaign_id), { ...row, campaign_id: Number(row.campaign_id), revision: BigInt(row.revision) })
}

async function loadCalls (tx: PoolClient, { calls }: Fold, ids: string[]): Promise<void> {
  if (ids.length === 0) return
  const { rows } = await tx.query<{ call_id: string, last_position: string }>(
    'SELECT call_id, last_position FROM ledger.webhook_deliveries WHERE call_id = ANY($1) AND type = \'call.completed\'', [ids])
  for (const { call_id, last_position } of rows) calls.set(call_id, BigInt(last_position))
}

/** Writes back what the batch changed. */
export async function saveFold (tx: PoolClient, fold: Fold): Promise<void> {
  const assistants = chosen(fold.assistants, fold.changed.assistants)
  if (assistants.length > 0) {
    await tx.query(`
      INSERT INTO ledger.dispatch_assistants (assistant_id, user_id, revision, settings)
      SELECT * FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::json[])
      ON CONFLICT (assistant_id) DO UPDATE SET revision = excluded.revision, settings = excluded.settings`,
    [assistants.map((row) => row.assistant_id), assistants.map((row) => row.user_id), assistants.map((row) => row.revision), assistants.map((row) => JSON.stringify(row.settings))])
  }
  const leads = chosen(fold.leads, fold.changed.leads)
  if (leads.length > 0) {
    await tx.query(`
      INSERT INTO ledger.dispatch_leads (contact_id, user_id, campaign_id, phone_number, variables, status)
      SELECT * FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::text[], $5::json[], $6::text[])
      ON CONFLICT (contact_id) DO UPDATE SET status = excluded.status`,
    [leads.map((row) => row.id), leads.map((row) => row.user_id), leads.map((row) => row.campaign_id), leads.map((row) => row.phone_number), leads.map((row) => JSON.stringify(row.variables)), leads.map((row) => row.status)])
  }
  const campaigns = chosen(fold.campaigns, fold.changed.campaigns)
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
