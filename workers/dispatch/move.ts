// The statement that moves the dispatcher's checkpoint, which everything that a batch writes hangs on.
import { dispatcherCheckpoint } from '../../src/recovery/database-state.js'
import { sharedEndpointsSql, type Address } from '../deliveries/endpoints.js'
import { hidden } from '../deliveries/hidden.js'
import type { NewDelivery } from './new-deliveries.js'

/** Moves the checkpoint from $2 to $1, as long as epoch and version are $3 and $4: the relation `moved`. */
export const movingSql = `
  WITH moved AS (
    UPDATE ${dispatcherCheckpoint} AS checkpoint SET position = $1, updated_at = now()
    WHERE position = $2 AND epoch = $3 AND checkpoint.xmin = $4::text::xid
    RETURNING checkpoint.xmin::text AS version
  )`

/**
 * The same where the calls $5 have no rows yet and their $6 endpoints are there: the relation `endpoints`. The
 * checkpoint is locked before endpoints are, as in a transaction.
 */
export const movingWithCallsSql = `
  WITH held AS MATERIALIZED (
    SELECT FROM ${dispatcherCheckpoint} AS checkpoint
    WHERE position = $2 AND epoch = $3 AND checkpoint.xmin = $4::text::xid AND NOT EXISTS (
      SELECT FROM ledger.webhook_deliveries WHERE call_id = ANY(${hidden(5, 'text')}::text[]) AND type = 'call.completed')
    FOR UPDATE
  ), endpoints AS MATERIALIZED (
    ${sharedEndpointsSql(6, 'EXISTS (SELECT FROM held)')} FOR SHARE OF e
  ), moved AS (
    UPDATE ${dispatcherCheckpoint} AS checkpoint SET position = $1, updated_at = now()
    WHERE EXISTS (SELECT FROM held) AND (SELECT count(*) FROM endpoints) = $6
    RETURNING checkpoint.xmin::text AS version
  )`

export interface Endpoints {
  addresses: Address[]
  /** Which of them a delivery is for, counted from 1. */
  nthOf: Map<string, number>
}

export function endpointsOf (deliveries: NewDelivery[]): Endpoints {
  const addresses: Address[] = []
  const places = new Map<string, number>()
  const nthOf = new Map<string, number>()
  for (const delivery of deliveries) {
    if (!('url' in delivery)) continue
    const { id, user_id, url } = delivery
    const key = JSON.stringify([user_id, url])
    const nth = places.get(key) ?? addresses.push({ user_id, url })
    places.set(key, nth)
    nthOf.set(id, nth)
  }
  return { addresses, nthOf }
}
