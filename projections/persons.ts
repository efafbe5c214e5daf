// What the read models know of a person, and what an erasure must erase.
import type { Pool, PoolClient } from 'pg'
import { blacklistStream } from '../src/features/blacklist/events.js'
import { describeEntry, type KnownEntry } from '../src/features/blacklist/model.js'
import type { CallErased } from '../src/features/calls/events.js'
import { type CallReport, describeCall, type KeptReport } from '../src/features/calls/model.js'
import type { DigestOfContact } from '../src/features/leads/events.js'
import { describeContact } from '../src/features/leads/model.js'
import { eachPart, type PartsQuery } from '../src/postgres/each-part.js'
import type { Filter } from '../src/postgres/page.js'
import type { CallFound } from './calls.js'
import { leadColumns, toContact } from './find-leads.js'
import { iso } from './engine/table.js'
import type { LeadRow } from './leads.js'

/** Whether a call that is not erased names the number on either end. It searches the text of the JSON. */
const namesNumber = (number: string) =>
  `summary::text ~ ('"(from|to)":"[+]' || substr(${number}::text, 2) || '"')`

export const callKeys = (schema: string) => `
  SELECT id FROM ${schema}.calls WHERE user_id = $1 AND report IS NOT NULL
    AND (${namesNumber('$2')} OR lead_id = ANY($3::bigint[]))`

export const leadKeys = (schema: string) => `
  SELECT id::text FROM ${schema}.leads
  WHERE user_id = $1 AND phone_number <> '' AND (phone_number = $2 OR id = ANY($3::bigint[]))
  UNION SELECT key FROM ${schema}.blacklist WHERE user_id = $1 AND phone_number = $2`

/** A person of this user, with the number in E.164. */
export interface Person { userId: string, phoneNumber: string }

/** With the digest of the number, and the name of the do-not-call stream, which holds that digest. */
interface DigestedPerson extends Person { numberDigest: string, entryStream: string }

export function digested (person: Person, digest: (text: string) => string): DigestedPerson {
  const numberDigest = digest(person.phoneNumber)
  return { ...person, numberDigest, entryStream: blacklistStream(digest(person.userId), numberDigest) }
}

/** These queries are too rare for indexes of their own, so they may take long. In milliseconds. */
const patient = { query_timeout: 60_000 }

async function idsIn (pool: Pool, text: string, values: unknown[]): Promise<string[]> {
  const { rows } = await pool.query<{ id: string }>({ text, values, ...patient })
  return rows.map(({ id }) => id)
}

type Visit<Item> = (items: Item[]) => Promise<void>

/**
 * Reads everything in the snapshot of one transaction, in parts of bounded bytes. Deleted leads and contacts are
 * included, with the status `deleted`. No other person is named: a lead comes without its secondary contacts.
 */
export function findPerson (
  snapshot: PoolClient, { userId, phoneNumber, numberDigest, entryStream }: DigestedPerson, signal: AbortSignal
) {
  const own: Filter[] = [['user_id = ?', userId]]
  const numbered: Filter[] = [...own, ['phone_number = ?', phoneNumber]]
  const each = <Item>(query: PartsQuery, visit: Visit<Item>) => eachPart<Item>(snapshot, query, visit, signal)
  /** Calls from or to the number, and all calls of leads and contacts that have it, or had it before an erasure. */
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
    /** Also an entry whose number was erased: it still applies. */
    async blacklistEntry (): Promise<object | null> {
      const { rows: [entry] } = await snapshot.query<FoundEntry>(`
        SELECT id::float8 AS blacklist_id, user_id, phone_number, reason, created_at FROM read_model.blacklist
        WHERE user_id = $1 AND stream = $2 AND NOT is_deleted ORDER BY id DESC LIMIT 1`, [userId, entryStream])
      return entry ? describeEntry({ ...entry, created_at: entry.created_at.toISOString() }) : null
    }
  }
}

interface FoundLead { row: LeadRow, campaign: string | null, is_gone: boolean }
type FoundEntry = Omit<Parameters<typeof describeEntry>[0], 'created_at'> & { created_at: Date }

const leads = {
  columns: `${leadColumns}, primary_id`,
  from: 'read_model.leads',
  key: 'id',
  order: 'id',
  type: 'bigint',
  item: `json_build_object('row', row_to_json(page), 'campaign', (
    SELECT name FROM read_model.lead_campaigns WHERE campaign_id = page.campaign_id), 'is_gone', EXISTS (
    SELECT FROM read_model.leads WHERE id = page.primary_id AND status = 'deleted'))`
}

const calls = {
  columns: 'summary, report',
  from: 'read_model.calls',
  key: 'id',
  order: 'id COLLATE "C"',
  type: 'text',
  item: "json_build_object('summary', summary, 'report', report)"
}

const personOf = ({ row, is_gone }: FoundLead) =>
  ({ ...describeContact(toContact(row)), status: is_gone ? 'deleted' : row.status, campaign_id: row.campaign_id })

const leadOf = (found: FoundLead) =>
  ({ ...personOf(found), campaign: { id: found.row.campaign_id, name: found.campaign ?? '' } })

const contactOf = (found: FoundLead) => ({ ...personOf(found), lead_id: found.row.primary_id })

/** Secondary contacts with the number, of a lead that stays. */
interface ContactsToErase {
  stream: string
  lead_id: number
  campaign_id: number
  contact_ids: number[]
}

/**
 * Leads and contacts that have the number, contacts that had it when they were erased with their lead, and persons that
 * were read only after their key was gone, so that nobody knows their number.
 */
const isOfPerson = '(phone_number = $2 OR number_digest = $3 OR is_to_erase)'

/**
 * Leads and contacts with the number, on whatever stream, deleted or not.
 * @param streams on which every lead has the number: a reader may have read a lead only after its key was gone
 */
export async function findLeadIds (
  pool: Pool, { userId, phoneNumber, numberDigest }: DigestedPerson, streams: readonly string[]
): Promise<number[]> {
  const found = await idsIn(pool, `
    SELECT id FROM read_model.leads
    WHERE user_id = $1 AND (${isOfPerson} OR (primary_id IS NULL AND stream = ANY($4)))`,
  [userId, phoneNumber, numberDigest, streams])
  return found.map(Number)
}

interface LeadWithContacts {
  lead_id: number
  contacts: Array<{ id: number, phone_number: string, number_digest: string | null }>
}

/**
 * With all contacts that each lead has ever had.
 * @param stream one on which every lead has the number, or had it before an erasure
 */
export async function findLeadsOn (
  pool: Pool, { userId, phoneNumber }: Person, stream: string, digest: (phoneNumber: string) => string
) {
  const { rows } = await pool.query<LeadWithContacts>({
    text: `
      SELECT id::float8 AS lead_id, (
        SELECT coalesce(json_agg(json_build_object(
          'id', id, 'phone_number', phone_number, 'number_digest', number_digest) ORDER BY id), '[]')
        FROM read_model.leads WHERE primary_id = lead.id) AS contacts
      FROM read_model.leads lead
      WHERE user_id = $1 AND primary_id IS NULL AND stream = $2 ORDER BY id`,
    values: [userId, stream],
    ...patient
  })
  return rows.map(({ lead_id, contacts }) => {
    const digests = contacts.flatMap(({ id: contact_id, phone_number, number_digest: known }): DigestOfContact[] => {
      const number_digest = phone_number === '' ? known : digest(phone_number)
      // The person's own number needs none: they are erased with the lead.
      return number_digest === null || phone_number === phoneNumber ? [] : [{ contact_id, number_digest }]
    })
    return { lead_id, contacts: contacts.map(({ id }) => id), digests }
  })
}

export async function findContacts (
  pool: Pool, { userId, phoneNumber, numberDigest }: DigestedPerson
): Promise<ContactsToErase[]> {
  const { rows } = await pool.query<ContactsToErase>({
    text: `
      SELECT stream, primary_id::float8 AS lead_id, campaign_id::float8 AS campaign_id, array_agg(id::float8) AS contact_ids
      FROM read_model.leads
      WHERE user_id = $1 AND ${isOfPerson} AND primary_id IS NOT NULL GROUP BY stream, primary_id, campaign_id`,
    values: [userId, phoneNumber, numberDigest],
    ...patient
  })
  return rows
}

/** Every do-not-call entry that the stream has ever had, in order. */
export async function findEntries (pool: Pool, userId: string, stream: string): Promise<KnownEntry[]> {
  const { rows } = await pool.query<Omit<KnownEntry, 'created_at'> & { created_at: Date }>({
    text: `
      SELECT id::float8 AS blacklist_id, user_id, created_at, is_deleted AS "isDeleted" FROM read_model.blacklist
      WHERE user_id = $1 AND stream = $2 ORDER BY revision`,
    values: [userId, stream],
    ...patient
  })
  return rows.map((row) => ({ ...row, created_at: row.created_at.toISOString() }))
}

/** Every campaign that the user has had, and those of leads with the number, in case the rows lack a campaign. */
export async function findCampaignIds (pool: Pool, { userId, phoneNumber }: Person): Promise<number[]> {
  const found = await idsIn(pool, `
    SELECT id FROM read_model.campaigns WHERE user_id = $1
    UNION SELECT campaign_id FROM read_model.leads WHERE user_id = $1 AND phone_number = $2 AND primary_id IS NULL
    ORDER BY id`, [userId, phoneNumber])
  return found.map(Number)
}

/**
 * The next `most` ids after `after`: of calls from or to the number, even if the engine named another person; of calls
 * of these leads and contacts; of calls that were read only after their key was gone, or have no owner; and `others`.
 */
export async function findCallIds (
  pool: Pool, { userId, phoneNumber }: Person,
  { leadIds, nobodys, others }: Record<'nobodys' | 'others', readonly string[]> & { leadIds: readonly number[] },
  after: string, most: number
): Promise<string[]> {
  return await idsIn(pool, `
    SELECT id FROM (
      SELECT id FROM read_model.calls
      WHERE user_id = $1 AND report IS NOT NULL AND ${namesNumber('$2')}
      UNION
      SELECT id FROM read_model.calls
      WHERE user_id = $1 AND report IS NOT NULL AND lead_id = ANY($3::bigint[])
      UNION
      SELECT id FROM read_model.calls
      WHERE is_to_erase AND (user_id = $1 OR user_id IS NULL AND id = ANY($6)) AND ${isNotParked}
      UNION
      SELECT unnest($7::text[])) found
    WHERE id COLLATE "C" > $5 ORDER BY id COLLATE "C" LIMIT $4`,
  [userId, phoneNumber, leadIds, most, after, nobodys, others])
}

/**
 * Calls of the user, or without an owner, of which the log may have more than the rows: they were reported again with
 * another number or lead, or an operator skipped one of their events.
 */
export async function findHalfKnown (pool: Pool, userId: string): Promise<string[]> {
  return await idsIn(pool, `
    SELECT id FROM read_model.calls WHERE user_id = $1 AND names_others
    UNION
    SELECT substr(stream, 6) FROM ledger.skipped_events LEFT JOIN read_model.calls ON id = substr(stream, 6)
    WHERE stream LIKE 'call-%' AND coalesce(user_id, $1) = $1`, [userId])
}

type Left = NonNullable<CallErased['lead_left']>

/** The report that the row has, if any, and the state of the call's lead unless that was deleted. */
export async function findReport (pool: Pool, callId: string): Promise<{ report: KeptReport, left?: Left }> {
  const { rows: [row] } = await pool.query<{ report: KeptReport, left: Left | null }>(`
    SELECT report, CASE WHEN lead.id IS NOT NULL THEN json_build_object(
      'status', lead.status, 'newest_report_at', lead.newest_report_at, 'updated_at', lead.updated_at) END AS left
    FROM read_model.calls call
    LEFT JOIN read_model.leads lead ON lead.id = call.lead_id AND lead.user_id = call.user_id AND lead.status <> 'deleted'
    WHERE call.id = $1`, [callId])
  const { report, left } = row ?? { report: null, left: null }
  if (left === null) return { report }
  const newest_report_at = left.newest_report_at === null ? null : iso(left.newest_report_at)
  return { report, left: { ...left, newest_report_at, updated_at: iso(left.updated_at) } }
}

/** An erasure would be parked after these events, and nobody could skip events that it hides. */
const isNotParked = "NOT EXISTS (SELECT FROM ledger.parked_events WHERE stream = 'call-' || calls.id)"

export async function findUsersOfLateCalls (pool: Pool): Promise<string[]> {
  return await idsIn(pool, `
    SELECT DISTINCT user_id AS id FROM read_model.calls
    WHERE is_to_erase AND user_id IS NOT NULL AND ${isNotParked} LIMIT 100`, [])
}

/** The next `most` ids after `after`. @param nobodys calls without an owner to include */
export async function findLateCalls (
  pool: Pool, userId: string, nobodys: readonly string[], after: string, most: number
): Promise<string[]> {
  return await idsIn(pool, `
    SELECT id FROM read_model.calls
    WHERE is_to_erase AND (user_id = $1 OR user_id IS NULL AND id = ANY($4)) AND ${isNotParked} AND id COLLATE "C" > $2
    ORDER BY id COLLATE "C" LIMIT $3`, [userId, after, most, nobodys])
}

/** A call whose assistant was unknown, and its position in the log. */
export type Unowned = Awaited<ReturnType<typeof findUnowned>>[number]

export async function findUnowned (pool: Pool) {
  const { rows } = await pool.query<{ id: string, assistant_id: string, position: string }>(`
    SELECT id, assistant_id, position FROM read_model.calls WHERE is_to_erase AND user_id IS NULL
    ORDER BY id COLLATE "C" LIMIT 1000`)
  return rows.map(({ id, assistant_id, position }) =>
    ({ id, assistantId: Number(assistant_id), position: BigInt(position) }))
}

/** A stream, and the revision of its first parked event. */
export type ParkedStream = Awaited<ReturnType<typeof findParked>>[number]

/** @param consumers generations such as `read_leads_g1`, and the dispatcher */
export async function findParked (pool: Pool, consumers: readonly string[]) {
  const { rows } = await pool.query<{ stream: string, revision: string }>(`
    SELECT stream, min(revision) AS revision FROM ledger.parked_events WHERE consumer = ANY($1)
    GROUP BY stream ORDER BY min(parked_at), stream`, [consumers])
  return rows.map(({ stream, revision }) => ({ stream, revision: BigInt(revision) }))
}

/** The calls of `among` that are, or may be, the person's: only the log knows the persons of late reports. */
export async function findOwnCalls (
  pool: Pool, { userId, phoneNumber }: Person, leadIds: readonly number[], among: readonly string[]
): Promise<string[]> {
  return await idsIn(pool, `
    SELECT id FROM read_model.calls
    WHERE id = ANY($4) AND user_id = $1 AND (is_to_erase OR ${namesNumber('$2')} OR lead_id = ANY($3::bigint[]))`,
  [userId, phoneNumber, leadIds, among])
}

export async function findOwner (pool: Pool, assistantId: unknown): Promise<string | undefined> {
  if (typeof assistantId !== 'number' || !Number.isSafeInteger(assistantId)) return undefined
  const { rows: [found] } = await pool.query<{ user_id: string }>(
    'SELECT user_id FROM read_model.assistants WHERE id = $1', [assistantId])
  return found?.user_id
}
