// Pending deliveries follow the webhook settings of their assistant.
import type { PoolClient } from 'pg'
import { endpointIds, resumeEndpoints } from './endpoints.js'

/** An assistant's webhook after its user changed it: `url` is null when it is off. */
export interface SettingsChange {
  assistant_id: number
  user_id: string
  url: string | null
  /** The change itself said that the webhook is on, which also resumes a suspended endpoint. */
  switchedOn: boolean
}

/**
 * Moves pending deliveries to a new URL, holds them when the webhook was switched off, and schedules them when it is
 * switched on again or has another URL. Running attempts go on.
 */
export async function followSettings (tx: PoolClient, changes: SettingsChange[]): Promise<void> {
  const off = changes.filter(({ url }) => url === null)
  const on = changes.flatMap(({ url, ...change }) => url === null ? [] : { ...change, url })
  const endpoints = await endpointIds(tx, on)
  await resumeEndpoints(tx, endpoints.filter((_, index) => on[index]?.switchedOn))
  if (off.length > 0) await hold(tx, off.map(({ assistant_id }) => assistant_id))
  if (on.length > 0) await reroute(tx, on.map(({ assistant_id }) => assistant_id), endpoints)
}

// A test is never pending: it has one attempt, and goes to the URL of that moment.
const isPending = "status IN ('scheduled', 'held') AND call_id IS NOT NULL"

async function hold (tx: PoolClient, assistantIds: number[]): Promise<void> {
  await tx.query(`
    UPDATE ledger.webhook_deliveries
    SET status = 'held', reason = 'webhook_off', held_at = coalesce(held_at, now()),
        queued_at = CASE WHEN started_at IS NOT NULL THEN queued_at END
    WHERE assistant_id = ANY($1::bigint[]) AND ${isPending}`, [assistantIds])
}

async function reroute (tx: PoolClient, assistantIds: number[], endpoints: string[]): Promise<void> {
  await tx.query(`
    UPDATE ledger.webhook_deliveries d
    SET endpoint_id = e.id,
        status = CASE WHEN e.suspended_at IS NULL THEN 'scheduled' ELSE 'held' END,
        reason = CASE WHEN e.suspended_at IS NULL THEN NULL ELSE 'endpoint_suspended' END,
        held_at = CASE WHEN e.suspended_at IS NOT NULL THEN coalesce(d.held_at, now()) END,
        queued_at = CASE WHEN e.suspended_at IS NULL OR started_at IS NOT NULL THEN queued_at END
    FROM unnest($1::bigint[], $2::bigint[]) AS route (assistant_id, endpoint_id)
    JOIN ledger.webhook_endpoints e ON e.id = route.endpoint_id
    WHERE d.assistant_id = route.assistant_id AND ${isPending}`, [assistantIds, endpoints])
}
