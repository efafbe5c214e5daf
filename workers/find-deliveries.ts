// Deliveries as their owners read them.
import type { Pool } from 'pg'
import type { Delivery } from '../src/domain/call/delivery.js'

/** The webhooks of the user's call with every attempt, oldest first; none when nothing is due for it, or not yet. */
export async function findDeliveries (pool: Pool, userId: string, callId: string): Promise<Delivery[]> {
  const { rows } = await pool.query<{ delivery: Delivery }>({
    name: 'find-deliveries',
    text: `SELECT json_build_object(
             'id', d.id, 'call_id', d.call_id, 'assistant_id', d.assistant_id, 'type', d.type, 'status', d.status, 'reason', d.reason,
             'attempt_count', d.attempt_count, 'next_attempt_at', CASE WHEN d.status = 'scheduled' THEN ${iso('d.next_attempt_at')} END,
             'created_at', ${iso('d.created_at')}, 'attempts', (
               SELECT coalesce(json_agg(json_build_object(
                 'n', a.n, 'trigger', a.trigger, 'started_at', ${iso('a.started_at')}, 'finished_at', ${iso('a.finished_at')},
                 'outcome', a.outcome, 'status_code', a.status_code, 'duration_ms', a.duration_ms, 'error', a.error,
                 'response_excerpt', a.response_excerpt) ORDER BY a.started_at, a.trigger, a.n), '[]')
               FROM ledger.webhook_attempts a WHERE a.delivery_id = d.id)) AS delivery
           FROM ledger.webhook_deliveries d WHERE d.call_id = $1 AND d.user_id = $2 ORDER BY d.created_at, d.id`,
    values: [callId, userId]
  })
  return rows.map(({ delivery }) => delivery)
}

/** A time as everywhere in answers: UTC, with milliseconds. */
const iso = (column: string) => `to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
