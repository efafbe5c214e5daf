// The rows of leads and secondary contacts whose person was erased.
import { erasedIds, type LeadErasedEvent } from '../src/domain/lead/erased.js'
import { laterOf } from '../src/domain/time/later-of.js'
import type { LogPosition, Rows } from './folding/projection.js'
import { leadTable, rowOn } from './lead-rows.js'

/** What stays of a person is that there was one: that the id is taken. It follows from this event alone. */
export function eraseLead (event: LeadErasedEvent, { stream }: LogPosition, rows: Rows): void {
  const { lead_id, with_lead, contact_ids, user_id, campaign_id, erased_at } = event.data
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
      updated_at: erased_at
    })
  }
  if (lead && !with_lead) rows.put(leadTable, { ...lead, updated_at: laterOf(lead.updated_at, erased_at) })
}

const nobody = {
  place: 0,
  phone_number: '',
  variables: { customer_name: '', email: '' },
  folded_name: '',
  status: 'deleted' as const,
  newest_report_at: null
}
