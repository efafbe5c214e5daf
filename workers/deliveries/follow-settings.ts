// Pending deliveries follow the webhook settings of their assistant.
import type { PoolClient } from 'pg'
import { endpointIds, resumeEndpoints } from './endpoints.js'
import { moveAssistants } from './moves/moves.js'

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
 * switched on again or has another URL. Running attempts go on. Many deliveries follow later, in batches: until then
 * no attempt of them starts.
 */
export async function followSettings (tx: PoolClient, changes: SettingsChange[]): Promise<void> {
  const on = changes.flatMap(({ url, ...change }) => url === null ? [] : { ...change, url })
  const endpoints = await endpointIds(tx, on)
  await resumeEndpoints(tx, endpoints.filter((_, index) => on[index]?.switchedOn))
  const endpointOf = new Map(on.map(({ assistant_id: id }, index) => [id, endpoints[index] ?? null]))
  await moveAssistants(tx, changes.map(({ assistant_id: assistantId }) =>
    ({ assistantId, endpointId: endpointOf.get(assistantId) ?? null })))
}
