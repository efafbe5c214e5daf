// Leads and their secondary contacts, one row each; find-leads.ts reads them.
import { type DomainEvent, isOf, laterOf } from '../src/domain/events.js'
import { type BlacklistEvent, blacklistEventTypes } from '../src/features/blacklist/events.js'
import { type CallCompleted, type CallErased, type CallEvent, callEventTypes } from '../src/features/calls/events.js'
import { idsOf, type LeadEvent, leadEventTypes, type LeadUpdatedEvent } from '../src/features/leads/events.js'
import { afterCall, peopleAfter, type Person } from '../src/features/leads/model.js'
import { blacklistTable, entryKey, projectEntry } from './blacklist.js'
import { CannotProject, type LogPosition, type Projection, type RowKey, type Rows } from './engine/projection.js'
import { type AnyTable, orNull, type RowOf, table, typed } from './engine/table.js'
import { calledAlso, calledIndex, searchIndexes, type Searched, wordsOf } from './search.js'

const leadTable = table({
  name: 'leads',
  key: 'id',
  columns: {
    id: 'bigint',
    primary_id: orNull('bigint'),
    place: 'integer',
    user_id: 'text',
    campaign_id: 'bigint',
    phone_number: 'text',
    variables: typed<Person['variables']>('json'),
    words: 'text', // of name, e-mail and number, as searches compare them
    called: 'text', // when, for searches of calls
    status: typed<Person['status']>('text'),
    stream: 'text',
    created_at: 'timestamptz',
    updated_at: 'timestamptz',
    newest_report_at: orNull('timestamptz'),
    is_to_erase: 'boolean',
    number_digest: orNull('text')
  },
  indexes: [
    '(user_id, created_at DESC, id DESC) INCLUDE (campaign_id, status, phone_number) WHERE primary_id IS NULL',
    '(user_id, campaign_id, created_at DESC, id DESC) INCLUDE (status, phone_number) WHERE primary_id IS NULL',
    '(user_id, phone_number COLLATE "C")',
    ...searchIndexes('created_at', 'primary_id IS NULL', 'coalesce(primary_id, id)'),
    calledIndex,
    '(user_id, updated_at) WHERE primary_id IS NULL',
    '(user_id, updated_at) WHERE primary_id IS NOT NULL',
    '(primary_id, place) WHERE primary_id IS NOT NULL'
  ]
})

export type LeadRow = RowOf<typeof leadTable>

/** The columns that lists need besides the words. */
const listed = 'id, primary_id, user_id, campaign_id, phone_number, status, created_at, updated_at'

/** A search finds a lead by its own words, or by those of a contact. */
export const searchedLeads: Searched = {
  table: 'leads',
  those: 'primary_id IS NULL',
  id: 'coalesce(primary_id, id)',
  first: 'created_at',
  type: 'timestamptz',
  rowsOf: (hits) => `(
    WITH hit AS MATERIALIZED (SELECT ${listed} FROM ${hits} hit WHERE status <> 'deleted')
    TABLE hit UNION ALL SELECT lead.* FROM hit CROSS JOIN LATERAL (
      SELECT ${listed} FROM read_model.leads WHERE id = hit.primary_id OFFSET 0) lead WHERE hit.primary_id IS NOT NULL)`
}

function projectLead (event: LeadEvent, { stream }: LogPosition, rows: Rows): void {
  const people = peopleAfter(event, (id) => personOf(stream, rows.get(leadTable, id)))
  if (event.type === 'LeadUpdated') assertContacts(event.data, rows)
  for (const { is_erased: _, ...person } of people) {
    const known = rows.get(leadTable, person.id)
    if (known && person.is_to_erase) continue // its erasure finds it by the present row
    const called = person.phone_number && (known?.called ?? '')
    const words = known?.variables === person.variables ? known.words : wordsIn(person)
    rows.put(leadTable, { ...person, stream, called, words })
  }
}

function assertContacts ({ lead_id, changes: { secondary_contacts = [] } }: LeadUpdatedEvent['data'], rows: Rows): void {
  const known = rows.get(leadTable, lead_id) ? secondary_contacts.map(({ id }) => rows.get(leadTable, id)) : []
  const taken = known.find((row) => row && row.primary_id !== lead_id)
  if (taken) throw new CannotProject(`lead id ${taken.id} is no secondary contact of ${lead_id}`)
}

/** @throws CannotProject when the row is of another stream */
function personOf (stream: string, row: LeadRow | undefined): Person | undefined {
  if (row && row.stream !== stream) throw new CannotProject(`lead id ${row.id} already belongs to ${row.stream}`)
  return row && { ...row, is_erased: false }
}

const wordsIn = ({ phone_number, variables }: Pick<LeadRow, 'phone_number' | 'variables'>) =>
  wordsOf(variables.customer_name, variables.email, phone_number)

/**
 * The lead after a call of which the log has only the erasure, which says how the call had left the lead. Nothing if
 * the lead has changed since: then the erasure counts like a report that comes now.
 */
function leadLeft (lead: LeadRow, call: CallCompleted | CallErased): LeadRow | undefined {
  const left = 'lead_left' in call ? call.lead_left : undefined
  if (!left || Date.parse(lead.updated_at) > Date.parse(left.updated_at)) return undefined
  const isBehind = Date.parse(lead.newest_report_at ?? '1970') > Date.parse(left.newest_report_at ?? '1970')
  return isBehind ? undefined : { ...lead, ...left }
}

/** A call belongs to the user of its assistant. It changes the status of a lead only if that is the same user's. */
export const assistantOwners = table({
  name: 'assistant_owners', key: 'assistant_id', columns: { assistant_id: 'bigint', user_id: 'text' }, internal: true
})

/** A first event on the stream of a call has no row of `calls` to read, unless it is an erasure. */
export function keysOfCall (
  { type, data: { call_id, assistant_id, lead_id } }: CallEvent, revision: bigint, leads: AnyTable, calls: AnyTable
): RowKey[] {
  const keys: RowKey[] = [[assistantOwners, assistant_id]]
  if (lead_id !== null) keys.push([leads, lead_id])
  if (type === 'CallErased' || revision > 0n) keys.push([calls, call_id])
  return keys
}

/** A copy of what the catalogue has, so that a lead and the name of its campaign are read at one position. */
const campaignTable = table({
  name: 'lead_campaigns',
  key: 'campaign_id',
  columns: { campaign_id: 'bigint', name: 'text', user_id: 'text', renamed_at: orNull('timestamptz') },
  indexes: ['(user_id, renamed_at) WHERE renamed_at IS NOT NULL']
})

/** Reported calls: a second report of a call changes no lead. */
const callTable = table({ name: 'lead_calls', key: 'call_id', columns: { call_id: 'text' }, internal: true })

export const leads: Projection = {
  name: 'leads',
  version: 18,
  eventTypes: [
    'AssistantCreated', 'CampaignCreated', 'CampaignRenamed', ...leadEventTypes, ...blacklistEventTypes,
    ...callEventTypes
  ],
  // For a call without a lead, the rows only note that it was reported.
  isDeferred: ({ type, data }) => type === 'CallCompleted' && (data as Partial<CallCompleted>).lead_id === null,
  creating: ['LeadCreated'],
  tables: [leadTable, assistantOwners, campaignTable, callTable, blacklistTable],
  keys (event, { stream, revision }) {
    if (isOf<LeadEvent>(leadEventTypes, event)) return idsOf(event).map((id) => [leadTable, id])
    if (isOf<BlacklistEvent>(blacklistEventTypes, event)) return [[blacklistTable, entryKey(stream, event.data)]]
    return isOf<CallEvent>(callEventTypes, event) ? keysOfCall(event, revision, leadTable, callTable) : []
  },
  project (event, at, rows) {
    if (isOf<LeadEvent>(leadEventTypes, event)) return projectLead(event, at, rows)
    if (isOf<BlacklistEvent>(blacklistEventTypes, event)) return projectEntry(event, at, rows)
    if (isOf<CallEvent>(callEventTypes, event)) return moveStatus(event.data, at, rows)
    switch (event.type) {
      case 'AssistantCreated': {
        const { assistant_id, user_id } = event.data
        return rows.put(assistantOwners, { assistant_id, user_id })
      }
      case 'CampaignCreated':
      case 'CampaignRenamed': {
        const { campaign_id, name, user_id } = event.data
        const renamed_at = event.type === 'CampaignRenamed' ? at.created.toISOString() : null
        return rows.put(campaignTable, { campaign_id, name, user_id, renamed_at })
      }
      default:
    }
  },
  idsSeen (event) {
    if (event.type === 'PhoneNumberBlacklisted' || event.type === 'BlacklistEntryErased') {
      return { sequence: 'ledger.blacklist_ids', id: event.data.blacklist_id }
    }
    return isIdGiving(event) ? { sequence: 'ledger.lead_ids', id: Math.max(...idsOf(event)) } : undefined
  }
}

const isIdGiving = (event: DomainEvent): event is LeadEvent =>
  ['LeadCreated', 'LeadUpdated', 'LeadErased'].includes(event.type)

function moveStatus (call: CallCompleted | CallErased, { revision, created }: LogPosition, rows: Rows): void {
  const { call_id, lead_id } = call
  // A repeated report. The revision alone does not tell: an engine may append events of its own before a report.
  const isKnown = revision > 0n && rows.get(callTable, call_id) !== undefined
  if (isKnown && !('erased_at' in call)) return
  rows.put(callTable, { call_id })
  const found = lead_id === null ? undefined : rows.get(leadTable, lead_id)
  if (!found || rows.get(assistantOwners, call.assistant_id)?.user_id !== found.user_id) return
  const lead = { ...found, called: found.words && calledAlso(found.called, call.ended_at) }
  if (lead.called !== found.called) rows.put(leadTable, lead)
  if (isKnown || lead.status === 'deleted') return
  const left = leadLeft(lead, call)
  if (left) return rows.put(leadTable, left)
  const after = afterCall({ ...lead, status: lead.status }, call, created)
  if (!after) return
  const updated_at = after.status === lead.status ? lead.updated_at : laterOf(lead.updated_at, created.toISOString())
  rows.put(leadTable, { ...lead, ...after, updated_at })
}
