// The rows that the projection of leads must have: the fold of the log in maps, one event after the other.
import { leads } from '../../../projections/leads.js'
import type { CallCompleted } from '../../../src/domain/call/events.js'
import type { LeadCreatedEvent, LeadStatusChangedEvent, LeadUpdatedEvent } from '../../../src/domain/lead/events.js'
import { leadOf } from '../../../src/domain/lead/evolve.js'
import type { StoredEvent } from '../../../src/domain/stored-event.js'
import { at } from '../events/call-events.js'
import { fold, type Model } from './models.js'

type Updated = LeadUpdatedEvent['data']
type Takes = (status: string) => boolean
type LeadRows = Map<number, LeadRow>

interface LeadRow {
  stream: string
  user_id: string
  status: string
  updated_at: string
  newest_report_at: string | null
  primary_id: number | null
  place: number
  variables: object
}

/** `takes` tells which statuses the table may hold. */
export function leadModel (log: StoredEvent[], takes = (_status: string) => true): Model {
  const rows: LeadRows = new Map()
  const owners = new Map<number, string>()
  const reported = new Set<string>()
  const parked = fold(leads, log, (event, { stream, created }) => {
    switch (event.type) {
      case 'AssistantCreated': owners.set(event.data.assistant_id, event.data.user_id); break
      case 'LeadCreated': return create(rows, event, stream)
      case 'LeadUpdated': return update(rows, event.data, stream)
      case 'LeadStatusChanged': return move(rows.get(event.data.contact_id ?? event.data.lead_id), event, stream, takes)
      case 'LeadDeleted': return remove(rows.get(event.data.lead_id), stream)
      case 'CallCompleted': {
        if (reported.has(event.data.call_id)) break
        reported.add(event.data.call_id)
        const row = rows.get(event.data.lead_id ?? 0)
        if (row && owners.get(event.data.assistant_id) === row.user_id) return report(row, event.data, created, takes)
        break
      }
      default:
    }
    return true
  })
  return { wanted: rows, parked }
}

function create (rows: LeadRows, event: LeadCreatedEvent, stream: string): boolean {
  const lead = leadOf(event)
  const { id, user_id, secondary_contacts, created_at } = lead
  const people = [lead, ...secondary_contacts]
  if (people.some((one) => rows.has(one.id) && rows.get(one.id)?.stream !== stream)) return false
  const row = { stream, user_id, status: 'created', updated_at: created_at, newest_report_at: null }
  people.forEach(({ id: one, variables }, place) => {
    if (!rows.has(one)) rows.set(one, { ...row, primary_id: one === id ? null : id, place, variables })
  })
  return true
}

function move (
  row: LeadRow | undefined, { data: { status } }: LeadStatusChangedEvent, stream: string, takes: Takes
): boolean {
  if (!row) return true
  if (row.stream !== stream) return false
  if (row.status === 'deleted') return true
  if (takes(status)) row.status = status
  return takes(status)
}

function remove (row: LeadRow | undefined, stream: string): boolean {
  if (row?.stream === stream) row.status = 'deleted'
  return !row || row.stream === stream
}

function report (
  row: LeadRow, { lead_status, status: ended, ended_at }: CallCompleted, created: Date, takes: Takes
): boolean {
  if (row.status === 'deleted') return true
  if (row.newest_report_at !== null && Date.parse(ended_at) < Date.parse(row.newest_report_at)) return true
  const given = lead_status ?? (ended === 'completed' ? 'completed' : row.status)
  const status = row.status === 'blacklisted' ? row.status : given
  if (!takes(status)) return false
  const moved = status !== row.status && created.toISOString() > row.updated_at
  const updated_at = moved ? created.toISOString() : row.updated_at
  Object.assign(row, { status, newest_report_at: ended_at, updated_at })
  return true
}

/** All of these events are of one time, which is never later than a row's. */
function update (rows: LeadRows, { lead_id, changes, removed_contacts }: Updated, stream: string): boolean {
  const lead = rows.get(lead_id)
  const { variables, secondary_contacts = [] } = changes
  if (!lead) return true
  const formers = secondary_contacts.map(({ id }) => rows.get(id))
  if (formers.some((row) => row && row.primary_id !== lead_id)) return false
  const named = [lead, ...formers, ...removed_contacts.map((id) => rows.get(id))]
  if (named.some((row) => row && row.stream !== stream)) return false
  Object.assign(lead, { variables: variables ?? lead.variables })
  secondary_contacts.forEach(({ id, variables }, index) => {
    const fresh = { ...lead, status: 'created', newest_report_at: null, primary_id: lead_id, updated_at: at }
    rows.set(id, { ...(rows.get(id) ?? fresh), variables, place: index + 1 })
  })
  for (const id of removed_contacts) Object.assign(rows.get(id) ?? {}, { status: 'deleted' })
  return true
}
