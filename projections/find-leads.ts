// Queries on leads.
import type { Pool, PoolClient } from 'pg'
import type { Contact, Lead } from '../src/features/leads/model.js'
import type { LeadStatus } from '../src/features/leads/events.js'
import { eachPart } from '../src/postgres/each-part.js'
import { lookUp } from '../src/postgres/batcher.js'
import { beginning, readPage, type Conditions, type Filter, type Page, type Paged } from '../src/postgres/page.js'
import { inSnapshot } from '../src/postgres/transaction.js'
import { hasEntry, isListed } from './blacklist.js'
import { iso } from './engine/table.js'
import { type LeadRow, searchedLeads } from './leads.js'
import { hasWords, patternsOf, searchedBy } from './search.js'

export interface LeadInCampaign { lead: Lead, campaignName: string }

/** Finds a lead by its own id or by that of a secondary contact. */
export async function findLead (db: Pool, userId: string, id: number): Promise<LeadInCampaign | undefined> {
  const row = await lookUp<{ found: FoundLead }>(db, {
    name: 'find-lead',
    types: ['bigint', 'text'],
    text: `SELECT ${wholeLead} AS found FROM (
             SELECT ${leadColumns} FROM read_model.leads
             WHERE user_id = $2 AND primary_id IS NULL AND status <> 'deleted' AND id = coalesce((
               SELECT primary_id FROM read_model.leads WHERE id = $1 AND user_id = $2 AND status <> 'deleted'), $1)) page`
  }, [id, userId])
  return row && inCampaign(row.found)
}

export interface LeadOnStream extends LeadInCampaign { stream: string }

/** Finds deleted leads too, but neither erased ones nor secondary contacts. */
export async function findLeadToChange (db: Pool, userId: string, id: number): Promise<LeadOnStream | undefined> {
  const row = await lookUp<{ found: FoundLead, stream: string }>(db, {
    name: 'find-lead-to-change',
    types: ['bigint', 'text'],
    text: `SELECT ${wholeLead} AS found, stream FROM (
             SELECT ${leadColumns}, stream FROM read_model.leads WHERE id = $1 AND user_id = $2 AND primary_id IS NULL AND phone_number <> '') page`
  }, [id, userId])
  return row && { ...inCampaign(row.found), stream: row.stream }
}

export interface LeadFilter {
  userId: string
  campaignId?: number | undefined
  status?: LeadStatus | undefined
  /** A plus sign and the first digits. */
  phonePrefix?: string | undefined
  /** Words of the lead or of a secondary contact. */
  searched?: string | undefined
  /** ISO 8601, both included. */
  createdFrom?: string | undefined
  createdTo?: string | undefined
  /** ISO 8601, included. */
  updatedFrom?: string | undefined
}

/** A page of the user's leads, newest first. */
export async function findLeads (db: Pool, filter: LeadFilter, page: Page): Promise<Paged<LeadInCampaign>> {
  const { items, ...place } = await readPage<FoundLead>(db, {
    name: 'leads',
    columns: leadColumns,
    from: 'read_model.leads',
    key: 'id',
    ...await conditionsOf(db, filter),
    search: searchedBy(searchedLeads, filter.userId, filter.searched),
    order: { direction: 'DESC', by: { created_at: 'timestamptz', id: 'bigint' } },
    item: wholeLead
  }, page)
  return { items: items.map(inCampaign), ...place }
}

/** Visits all matching leads in the order of their ids, in one snapshot. */
export async function eachLead (
  db: Pool, filter: LeadFilter, visit: (leads: LeadInCampaign[]) => Promise<void>, signal: AbortSignal
): Promise<void> {
  const patterns = patternsOf(filter.searched)
  await inSnapshot(db, async (snapshot) => {
    const { filters = [], ...conditions } = await conditionsOf(snapshot, filter)
    await eachPart<FoundLead>(snapshot, {
      name: 'leads',
      columns: leadColumns,
      from: 'read_model.leads',
      key: 'id',
      order: 'id',
      type: 'bigint',
      ...conditions,
      filters: [...filters, [isFound, patterns, patterns]],
      item: wholeLead
    }, (found) => visit(found.map(inCampaign)), signal)
  })
}

/** `OFFSET 0` makes Postgres look up the contacts of each lead instead of reading all contacts first. */
const isFound = `(${hasWords('leads')} OR EXISTS (
  SELECT FROM read_model.leads contact
  WHERE contact.primary_id = leads.id AND contact.status <> 'deleted' AND ${hasWords('contact')} OFFSET 0))`

async function conditionsOf (db: Pool | PoolClient, filter: LeadFilter): Promise<Conditions> {
  return {
    own: [['user_id = ?', filter.userId], ['primary_id IS NULL'], ["status <> 'deleted'"]],
    indexed: { campaign: ['campaign_id = ?', filter.campaignId] },
    range: [['created_at >= ?', filter.createdFrom], ['created_at <= ?', filter.createdTo]],
    filters: [
      ...statusFilters(filter.status),
      ...beginning('phone_number', filter.phonePrefix),
      ...await changedSince(db, filter)
    ]
  }
}

/** If more changed, each lead is checked on its own, because many match. */
const mostChanged = 10_000

/**
 * A lead also shows its contacts, the do-not-call list and its campaign's name, whose changes do not touch its row.
 * A first query looks those changes up, so that one index finds their leads and another the leads that changed.
 */
async function changedSince (db: Pool | PoolClient, { userId, updatedFrom }: LeadFilter): Promise<Filter[]> {
  if (updatedFrom === undefined) return []
  const { rows: [found] } = await db.query<{ count: string, ids: string[], campaigns: string[] }>({
    name: 'what-changed-leads',
    text: `
      WITH contacts AS (
        SELECT primary_id AS id FROM read_model.leads
        WHERE user_id = $1 AND updated_at >= $2 AND primary_id IS NOT NULL LIMIT $3),
      entries AS (SELECT phone_number FROM read_model.blacklist WHERE user_id = $1 AND updated_at >= $2 LIMIT $3),
      listed AS (
        SELECT coalesce(leads.primary_id, leads.id) AS id FROM entries JOIN read_model.leads
        ON leads.user_id = $1 AND leads.phone_number COLLATE "C" = entries.phone_number LIMIT $3),
      campaigns AS (
        SELECT campaign_id FROM read_model.lead_campaigns WHERE user_id = $1 AND renamed_at >= $2 LIMIT $3)
      SELECT (SELECT max(count) FROM (
        SELECT count(*) FROM contacts UNION ALL SELECT count(*) FROM entries UNION ALL SELECT count(*) FROM listed
        UNION ALL SELECT count(*) FROM campaigns) counts) AS count,
        ARRAY(SELECT id FROM contacts UNION SELECT id FROM listed) AS ids, ARRAY(TABLE campaigns) AS campaigns`,
    values: [userId, updatedFrom, mostChanged + 1]
  })
  if (!found) throw new Error('a query without FROM gave no row')
  const isChanged = 'updated_at >= ? OR campaign_id = ANY(?::bigint[])'
  if (Number(found.count) <= mostChanged) {
    return [[`(${isChanged} OR id = ANY(?::bigint[]))`, updatedFrom, found.campaigns, found.ids]]
  }
  const isListChanged = (row: string) => hasEntry('entry.updated_at >= ?', row)
  return [[
    `(${isChanged} OR ${isListChanged('leads')} OR EXISTS (
      SELECT FROM read_model.leads contact
      WHERE contact.primary_id = leads.id AND (contact.updated_at >= ? OR ${isListChanged('contact')}) OFFSET 0))`,
    updatedFrom, found.campaigns, updatedFrom, updatedFrom, updatedFrom
  ]]
}

/** A person whose number is listed shows as `blacklisted`. After it is unlisted, they show their own status again. */
const statusAsListed = `CASE WHEN status <> 'deleted' AND ${isListed} THEN 'blacklisted' ELSE status END AS status`

function statusFilters (status: LeadStatus | undefined): Filter[] {
  if (status === undefined) return []
  if (status === 'blacklisted') return [[`(status = 'blacklisted' OR ${isListed})`]]
  return [['status = ?', status], [`NOT ${isListed}`]]
}

export const leadColumns = `id, user_id, campaign_id, phone_number, variables, ${statusAsListed}, created_at, updated_at`

/** A row of `page` with its contacts and the name of its campaign. */
const wholeLead = `json_build_object(
  'lead', row_to_json(page),
  'campaign_name', (SELECT name FROM read_model.lead_campaigns WHERE campaign_id = page.campaign_id),
  'contacts', (SELECT coalesce(json_agg(row_to_json(contact) ORDER BY contact.place), '[]') FROM (
     SELECT id, place, phone_number, variables, ${statusAsListed}, created_at, updated_at
     FROM read_model.leads WHERE primary_id = page.id AND status <> 'deleted') contact))`

interface FoundLead { lead: LeadRow, contacts: LeadRow[], campaign_name: string | null }

function inCampaign ({ lead, contacts, campaign_name }: FoundLead): LeadInCampaign {
  const { user_id, campaign_id } = lead
  return {
    lead: {
      ...toContact(lead),
      user_id,
      campaign_id,
      secondary_contacts: contacts.map(toContact),
      ...(lead.status === 'deleted' && { isDeleted: true })
    },
    campaignName: campaign_name ?? ''
  }
}

/** Finds the owner of deleted leads and contacts too, as their calls are still reported. */
export async function findLeadOwner (db: Pool, id: number): Promise<string | undefined> {
  const { rows } = await db.query<{ user_id: string }>('SELECT user_id FROM read_model.leads WHERE id = $1', [id])
  return rows[0]?.user_id
}

/** Callers know no status `deleted`, so a deleted person gets `created`. */
export function toContact ({ id, phone_number, variables, status, created_at, updated_at }: LeadRow): Contact {
  const times = { created_at: iso(created_at), updated_at: iso(updated_at) }
  return { id, phone_number, variables, status: status === 'deleted' ? 'created' : status, ...times }
}
