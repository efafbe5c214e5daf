// Calls of a person who is to be erased, and what is known of each.
import type { Pool } from 'pg'
import type { CallErased } from '../../src/features/calls/events.js'
import type { KeptReport } from '../../src/features/calls/model.js'
import { iso } from '../folding/table.js'
import { patient, type Person } from './find-person.js'
import { isNotParked } from './late-calls.js'
import { namesNumber } from './rows-of-person.js'

/**
 * The next ids behind `after`: of calls from or to the number, also where the engine named another person; of calls of
 * these leads and contacts; of calls that were read too late to be known by a number, or are nobody's; and `others`.
 * @param most of them
 */
export async function findCallIds (
  pool: Pool, { userId, phoneNumber }: Person,
  { leadIds, nobodys, others }: Record<'nobodys' | 'others', readonly string[]> & { leadIds: readonly number[] },
  after: string, most: number
): Promise<string[]> {
  const { rows } = await pool.query<{ id: string }>({
    text: `
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
    values: [userId, phoneNumber, leadIds, most, after, nobodys, others],
    ...patient
  })
  return rows.map(({ id }) => id)
}

/**
 * Calls of the user, or of nobody, of which the log may tell more than rows do: they were reported again with another
 * number, or an operator skipped an event of theirs.
 */
export async function findHalfKnown (pool: Pool, userId: string): Promise<string[]> {
  const { rows } = await pool.query<{ id: string }>(`
    SELECT id FROM read_model.calls WHERE user_id = $1 AND names_others
    UNION
    SELECT substr(stream, 6) FROM ledger.skipped_events LEFT JOIN read_model.calls ON id = substr(stream, 6)
    WHERE stream LIKE 'call-%' AND coalesce(user_id, $1) = $1`, [userId])
  return rows.map(({ id }) => id)
}

/** Whether any of these calls of the user is erased. */
export async function hasErased (pool: Pool, userId: string, callIds: readonly string[]): Promise<boolean> {
  const { rowCount } = await pool.query(`
    SELECT FROM read_model.calls WHERE id = ANY ($2::text[]) AND user_id = $1 AND report IS NULL LIMIT 1`, [userId, callIds])
  return rowCount === 1
}

interface Found { report: KeptReport, left: Left | null }
type Left = NonNullable<CallErased['lead_left']>

/** What was reported of the call, if not the log alone has it, and how its lead is left, if that stays. */
export async function findReport (pool: Pool, callId: string): Promise<{ report: KeptReport, left?: Left }> {
  const { rows: [row] } = await pool.query<Found>(`
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
