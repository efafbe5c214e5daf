// The rows of leads and secondary contacts whose person was erased.
import type { CallCompleted, CallErased } from '../src/features/calls/events.js'
import {
  erasedIds, type LeadCreatedEvent, type LeadErasedEvent, type LeadUpdatedEvent
} from '../src/features/leads/events.js'
import { laterOf } from '../src/domain/time/later-of.js'
import type { LogPosition, Rows } from './folding/projection.js'
import { leadTable, rowOn, type LeadRow } from './lead-rows.js'

type Named = LeadCreatedEvent['data'] | LeadUpdatedEvent['data']

/** Contacts whose key has ended: somebody has to say that they are erased, as others may have read who they were. */
export function addUnreadable (
  { lead_id, user_id, campaign_id, erased_contacts = [] }: Named, at: string, { stream }: LogPosition, rows: Rows
): void {
  const shared = { user_id, campaign_id, stream, created_at: at, updated_at: at }
  for (const id of erased_contacts) {
    if (rows.get(leadTable, id)) continue
    rows.put(leadTable, { ...nobody, ...shared, id, primary_id: lead_id, is_to_erase: true })
  }
}

/** What stays of a person is that there was one: that the id is taken. It follows from this event alone. */
export function eraseLead (event: LeadErasedEvent, { stream }: LogPosition, rows: Rows): void {
  const { lead_id, with_lead, contact_ids, digests = [], user_id, campaign_id, erased_at } = event.data
  const digestOf = new Map(digests.map(({ contact_id, number_digest }) => [contact_id, number_digest]))
  const [lead] = [lead_id, ...contact_ids].map((id) => rowOn(stream, id, rows))
  for (const id of erasedIds(event)) {
    rows.put(leadTable, {
      ...nobody,
      id,
      primary_id: id === lead_id ? null : lead_id,
      user_id,
      campaign_id,
      stream,
      created_at: erased_at,
      updated_at: erased_at,
      number_digest: digestOf.get(id) ?? null
    })
  }
  if (lead && !with_lead) rows.put(leadTable, { ...lead, updated_at: laterOf(lead.updated_at, erased_at) })
}

/**
 * The lead after a call of which the log has only its erasure: what it did to the lead, it did before. Nothing where
 * something came between what was told of the lead and this event: then it is as if it were reported now.
 */
export function leadLeft (lead: LeadRow, call: CallCompleted | CallErased): LeadRow | undefined {
  const left = 'lead_left' in call ? call.lead_left : undefined
  if (!left || Date.parse(lead.updated_at) > Date.parse(left.updated_at)) return undefined
  const isBehind = Date.parse(lead.newest_report_at ?? '1970') > Date.parse(left.newest_report_at ?? '1970')
  return isBehind ? undefined : { ...lead, ...left }
}

const nobody = {
  place: 0,
  phone_number: '',
  variables: { customer_name: '', email: '' },
  words: '',
  status: 'deleted' as const,
  newest_report_at: null,
  is_to_erase: false,
  number_digest: null
}
