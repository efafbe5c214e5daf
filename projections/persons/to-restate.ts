// What the read model has of a stream of leads that stay while somebody else on it is erased.
import type { Pool } from 'pg'
import type { LeadErasedEvent } from '../../src/domain/lead/erasing/erased.js'
import type { LeadRestatedEvent } from '../../src/domain/lead/erasing/restated.js'
import type { LeadStatus } from '../../src/domain/lead-status.js'
import { iso } from '../folding/table.js'
import type { LeadRow } from '../lead-rows.js'
import { patient, type Person } from './find-person.js'

interface Found {
  row: LeadRow
  /** Of one that was deleted: as calls and its user had left it. */
  kept_status: LeadStatus | null
  calls: Array<{ call_id: string, position: string }>
}

/** @param stream of another person: contacts with the number are left out of it */
export async function findStream (pool: Pool, { userId, phoneNumber }: Person, stream: string) {
  const { rows } = await pool.query<Found>({
    text: `
      SELECT row_to_json(lead) AS row, kept.status AS kept_status, (
        SELECT coalesce(json_agg(json_build_object('call_id', call.id, 'position', call.position::text) ORDER BY call.id), '[]')
        FROM read_model.calls call WHERE call.user_id = $1 AND call.lead_id = lead.id) AS calls
      FROM read_model.leads lead LEFT JOIN ledger.dispatch_leads kept ON kept.contact_id = lead.id
      WHERE lead.user_id = $1 AND lead.stream = $3 AND lead.phone_number <> $2
      ORDER BY coalesce(lead.primary_id, lead.id), lead.primary_id NULLS FIRST, lead.place, lead.id`,
    values: [userId, phoneNumber, stream],
    ...patient
  })
  return {
    staying: rows.filter(({ row }) => row.phone_number !== '').map(({ calls, ...found }) => ({
      data: dataOf(found), calls: calls.map(({ call_id, position }) => ({ call_id, position: BigInt(position) }))
    })),
    erased: rows.filter(({ row }) => row.phone_number === '').map(({ row, calls }) => erasedBefore(row, calls))
  }
}

function dataOf ({ row, kept_status }: Omit<Found, 'calls'>): Omit<LeadRestatedEvent['data'], 'calls' | 'restated_at'> {
  const { id, primary_id, place, user_id, campaign_id, phone_number, variables, status, newest_report_at } = row
  return {
    lead_id: primary_id ?? id,
    user_id,
    campaign_id,
    contact_id: primary_id === null ? null : id,
    place,
    phone_number,
    variables,
    status: status === 'deleted' ? kept_status ?? 'created' : status,
    is_deleted: status === 'deleted',
    newest_report_at: newest_report_at === null ? null : iso(newest_report_at),
    created_at: iso(row.created_at),
    updated_at: iso(row.updated_at)
  }
}

function erasedBefore (row: LeadRow, calls: Found['calls']): LeadErasedEvent {
  const { id, primary_id, user_id, campaign_id } = row
  const whose = { lead_id: primary_id ?? id, user_id, campaign_id, with_lead: primary_id === null }
  const named = calls.map(({ call_id }) => ({ call_id, lead_id: id }))
  return {
    type: 'LeadErased',
    data: { ...whose, contact_ids: primary_id === null ? [] : [id], calls: named, erased_at: iso(row.created_at) }
  }
}
