// The rows of the dispatch state that a batch reads.
import type { Pool, PoolClient } from 'pg'
import type { DomainEvent } from '../../../src/domain/events.js'
import type { RelevantSettings } from '../payload.js'
import { loadListings } from './load-listings.js'
import { contactIds, missing } from './named-rows.js'
import type { KnownLead } from './known.js'
import { DispatchState } from './state.js'

/** After a restore: up to `skipUntil` new calls are not sent, up to `rereadUntil` effects are not repeated. */
export interface Restored { skipUntil: bigint, rereadUntil: bigint }

/** The rows that events read are too large together: load them for fewer events. */
export class TooLarge extends Error {
  override readonly name = 'TooLarge'
}

/** Small events may name large leads and assistants: of either so much is loaded at once, in bytes. */
export const mostLoaded = 4 * 2 ** 20

/** Loads what `events` and the calls in `callIds` read or change. @throws TooLarge */
export async function loadState (
  tx: PoolClient, events: DomainEvent[], callIds: string[], mostBytes?: number
): Promise<{ state: DispatchState, restored: Restored }> {
  const state = new DispatchState()
  await loadMissing(tx, state, events, mostBytes)
  return { state, restored: await loadCalls(tx, state, callIds) }
}

/**
 * Loads what `events` read or change and the state does not have, but not what is known of calls. `mostBytes` is for
 * the settings of all assistants, and again for the variables of all leads. @throws TooLarge
 */
export async function loadMissing (
  db: Database, state: DispatchState, events: DomainEvent[], mostBytes = Number.MAX_SAFE_INTEGER
): Promise<void> {
  const { assistants, leads, campaigns, presumedAbsent: absent } = state
  const assistantIds = events.flatMap(({ data }) => 'assistant_id' in data ? data.assistant_id : [])
  await loadAssistants(db, state, missing(assistants, assistantIds, absent.assistants), mostBytes)
  const contacts = events.flatMap(contactIds)
  await loadLeads(db, state, missing(leads, contacts, absent.leads), mostBytes)
  const campaignsOfLeads = contacts.flatMap((id) => leads.get(id)?.campaign_id ?? [])
  const named = events.flatMap(({ data }) => 'campaign_id' in data ? data.campaign_id : [])
  await loadCampaigns(db, state, missing(campaigns, [...named, ...campaignsOfLeads], absent.campaigns))
  await loadListings(db, state, events)
}

type Database = Pool | PoolClient

/** Null is what went over the bytes. */
interface AssistantRow { assistant_id: string, user_id: string, revision: string, settings: RelevantSettings | null }
interface LeadRow extends Omit<KnownLead, 'id' | 'primary_id' | 'campaign_id' | 'newest_report_at' | 'variables' | 'revision'> {
  contact_id: string
  primary_id: string | null
  revision: string
  campaign_id: string
  newest_report_at: Date | null
  variables: KnownLead['variables'] | null
  is_erased: boolean
  is_listed: boolean | null
  listing_revision: string | null
}
interface CampaignRow { campaign_id: string, revision: string, name: string }
interface CallRow { skip_until: string, reread_until: string, call_id: string | null, last_position: string }

/** The column, as long as it and those before it are not longer than a parameter says. */
const within = (column: string, mostBytes: string) =>
  `CASE WHEN sum(octet_length(${column}::text)) OVER (ROWS UNBOUNDED PRECEDING) <= ${mostBytes} THEN ${column} END AS ${column}`

async function loadAssistants (
  db: Database, { assistants }: DispatchState, ids: number[], mostBytes: number
): Promise<void> {
  if (ids.length === 0) return
  const { rows } = await db.query<AssistantRow>({
    name: 'load-assistants',
    text: `
    SELECT assistant_id, user_id, revision, ${within('settings', '$2')}
    FROM ledger.dispatch_assistants WHERE assistant_id = ANY($1::bigint[])`,
    values: [ids, mostBytes]
  })
  for (const { assistant_id, revision, settings, ...row } of rows) {
    if (settings === null) throw new TooLarge('settings')
    const id = Number(assistant_id)
    assistants.set(id, { ...row, settings, assistant_id: id, revision: BigInt(revision) })
  }
}

async function loadLeads (
  db: Database, { leads, listings }: DispatchState, ids: number[], mostBytes: number
): Promise<void> {
  if (ids.length === 0) return
  const { rows } = await db.query<LeadRow>({
    name: 'load-leads',
    text: `
    SELECT contact_id, primary_id, user_id, campaign_id, phone_number, status, newest_report_at, kept.revision,
           is_erased, is_listed, listing.revision AS listing_revision, ${within('variables', '$2')}
    FROM ledger.dispatch_leads kept LEFT JOIN ledger.dispatch_blacklist listing USING (user_id, phone_number)
    WHERE contact_id = ANY($1::bigint[])`,
    values: [ids, mostBytes]
  })
  for (const { is_listed, listing_revision, ...found } of rows) {
    const { contact_id, primary_id, campaign_id, revision, newest_report_at: newest, variables, ...row } = found
    if (variables === null) throw new TooLarge('variables')
    const { user_id, phone_number } = row
    const listing = { is_listed: is_listed ?? false, revision: BigInt(listing_revision ?? -1) }
    listings.loaded({ user_id, phone_number, ...listing })
    const ids = { id: Number(contact_id), primary_id: primary_id === null ? null : Number(primary_id) }
    const place = { ...ids, campaign_id: Number(campaign_id), revision: BigInt(revision) }
    leads.set(place.id, { ...row, ...place, variables, newest_report_at: newest?.toISOString() ?? null })
  }
}

async function loadCampaigns (db: Database, { campaigns }: DispatchState, ids: number[]): Promise<void> {
  if (ids.length === 0) return
  const { rows } = await db.query<CampaignRow>({
    name: 'load-campaigns',
    text: `
    SELECT campaign_id, revision, name FROM ledger.dispatch_campaigns
    WHERE campaign_id = ANY($1::bigint[])`,
    values: [ids]
  })
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
