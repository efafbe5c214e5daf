// What the read model knows of a person: of one user, by the number that they are called on.
import type { PoolClient } from 'pg'
import { describeEntry } from '../../src/features/blacklist/model.js'
import { blacklistStream } from '../../src/features/blacklist/events.js'
import { type CallReport, describeCall } from '../../src/features/calls/model.js'
import { describeContact } from '../../src/features/leads/model.js'
import { eachPart, type PartsQuery } from '../../src/postgres/each-part.js'
import type { Filter } from '../../src/postgres/page.js'
import type { CallFound } from '../find-calls.js'
import { leadColumns, toContact } from '../find-leads.js'
import type { LeadRow } from '../lead-rows.js'
import { namesNumber } from './rows-of-person.js'

/** Whose person, and the number in E.164. */
export interface Person { userId: string, phoneNumber: string }

/** With the digest of the number, and the name of the do-not-call stream, which holds that digest. */
export interface DigestedPerson extends Person { numberDigest: string, entryStream: string }

export function digested (person: Person, digest: (text: string) => string): DigestedPerson {
  const numberDigest = digest(person.phoneNumber)
  return { ...person, numberDigest, entryStream: blacklistStream(digest(person.userId), numberDigest) }
}

/**
 * No index has the numbers of contacts, of calls as the engine gave them, nor the stream of a lead: they are asked
 * for so rarely. In milliseconds.
 */
export const patient = { query_timeout: 60_000 }

type Visit<Item> = (items: Item[]) => Promise<void>

/**
 * All of it from the snapshot of one transaction, in parts of bounded bytes. Leads that were deleted are known still,
 * and so are contacts: the status is `deleted`. Others than the person stand in none of it: a lead is without its
 * secondary contacts.
 */
export function findPerson (
  snapshot: PoolClient, { userId, phoneNumber, numberDigest, entryStream }: DigestedPerson, signal: AbortSignal
) {
  const own: Filter[] = [['user_id = ?', userId]]
  const numbered: Filter[] = [...own, ['phone_number = ?', phoneNumber]]
  const each = <Item>(query: PartsQuery, visit: Visit<Item>) => eachPart<Item>(snapshot, query, visit, signal)
  /** Calls from or to the number, and of leads and contacts with it, or that went with a lead, whatever they name. */
  const eachCall = async <Item>(query: Omit<PartsQuery, 'own'>, visit: Visit<Item>) => {
    await each({ ...query, own: [...own, [namesNumber('?'), phoneNumber]] }, visit)
    const { rows } = await snapshot.query<{ ids: string[] }>({
      text: `
        SELECT coalesce(array_agg(id), '{}') AS ids FROM read_model.leads
        WHERE user_id = $1 AND (phone_number = $2 OR number_digest = $3)`,
      values: [userId, phoneNumber, numberDigest],
      ...patient
    })
    const theirs: Filter = ['lead_id = ANY(?::bigint[])', rows[0]?.ids ?? []]
    await each({ ...query, own: [...own, theirs, [`NOT (${namesNumber('?')})`, phoneNumber]] }, visit)
  }
  return {
    leads: (visit: Visit<object>) => each<FoundLead>(
      { ...leads, own: [...numbered, ['primary_id IS NULL']] }, (found) => visit(found.map(leadOf))),
    contacts: (visit: Visit<object>) => each<FoundLead>(
      { ...leads, own: [...numbered, ['primary_id IS NOT NULL']] }, (found) => visit(found.map(contactOf))),
    calls: (visit: Visit<CallReport>) => eachCall<CallFound>(
      calls, (found) => visit(found.map(({ summary, report }) => describeCall(summary, report)))),
    callIds: (visit: Visit<string>) => eachCall<string>({ ...calls, columns: 'id', item: 'to_json(id)' }, visit),
    /** Also one whose number was erased: it holds. */
    async blacklistEntry (): Promise<object | null> {
      const { rows: [entry] } = await snapshot.query<FoundEntry>(`
        SELECT id::float8 AS blacklist_id, user_id, phone_number, reason, created_at FROM read_model.blacklist
        WHERE user_id = $1 AND stream = $2 AND NOT is_deleted ORDER BY id DESC LIMIT 1`, [userId, entryStream])
      return entry ? describeEntry({ ...entry, created_at: entry.created_at.toISOString() }) : null
    }
  }
}

interface FoundLead { row: LeadRow, campaign: string | null }
interface FoundEntry {
  blacklist_id: number
  user_id: string
  phone_number: string | null
  reason: string | null
  created_at: Date
}

const leads = {
  columns: `${leadColumns}, primary_id`,
  from: 'read_model.leads',
  key: 'id',
  order: 'id',
  type: 'bigint',
  item: `json_build_object('row', row_to_json(page), 'campaign', (
    SELECT name FROM read_model.lead_campaigns WHERE campaign_id = page.campaign_id))`
}

const calls = {
  columns: 'summary, report',
  from: 'read_model.calls',
  key: 'id',
  order: 'id COLLATE "C"',
  type: 'text',
  item: "json_build_object('summary', summary, 'report', report)"
}

const personOf = (row: LeadRow) => ({ ...describeContact(toContact(row)), status: row.status })

const leadOf = ({ row, campaign }: FoundLead) =>
  ({ ...personOf(row), campaign_id: row.campaign_id, campaign: { id: row.campaign_id, name: campaign ?? '' } })

const contactOf = ({ row }: FoundLead) => ({ ...personOf(row), lead_id: row.primary_id, campaign_id: row.campaign_id })
