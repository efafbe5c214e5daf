// The statement that moves the dispatcher's checkpoint, which everything that a batch writes hangs on, also the slots
// that it may give at once.
import { dispatcherCheckpoint } from '../../src/recovery/database-state.js'
import { sharedEndpointsSql, type Address } from '../deliveries/endpoints.js'
import { hidden } from '../deliveries/hidden.js'
import type { Enqueuer } from '../queue/enqueue.js'
import { acquireSql } from '../queue/slots.js'
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
 * checkpoint is locked before endpoints are, as in a transaction. It is found again by its place: of a table that was
 * never analyzed Postgres expects so many rows that it would plan this anew each time.
 */
export const movingWithCallsSql = `
  WITH held AS MATERIALIZED (
    SELECT checkpoint.ctid AS place FROM ${dispatcherCheckpoint} AS checkpoint
    WHERE position = $2 AND epoch = $3 AND checkpoint.xmin = $4::text::xid AND NOT EXISTS (
      SELECT FROM ledger.webhook_deliveries WHERE call_id = ANY(${hidden(5, 'text')}::text[]) AND type = 'call.completed')
    FOR UPDATE
  ), endpoints AS MATERIALIZED (
    ${sharedEndpointsSql(6, 'EXISTS (SELECT FROM held)')} FOR SHARE OF e
  ), moved AS (
    UPDATE ${dispatcherCheckpoint} AS checkpoint SET position = $1, updated_at = now()
    FROM held WHERE checkpoint.ctid = held.place AND (SELECT count(*) FROM endpoints) = $6
    RETURNING checkpoint.xmin::text AS version
  )`

/** Queues what was given slots, and says whether it may be given any beside what it has to queue. */
export type GiveSlots = Pick<Enqueuer, 'isIdle' | 'queueSoon'>

/**
 * Ends the statement with the jobs of what it inserted, the relation `deliveries_saved`, and of what waited before. The
 * function sees what was inserted, as each of its own statements looks anew; this one does not.
 */
export const slotsSql = (after: number) => `
  SELECT moved.version, job.*,
         coalesce(saved.user_id, (SELECT user_id FROM ledger.webhook_deliveries d WHERE d.id = job.id)) AS user_id
  FROM moved
  LEFT JOIN LATERAL ${acquireSql("ARRAY(SELECT DISTINCT user_id FROM deliveries_saved WHERE status = 'scheduled')", after)}
    AS job ON true
  LEFT JOIN deliveries_saved saved ON saved.id = job.id`

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
