// Calls whose lead was not known when they came, as an erasure hid what told of it: that tells of it later on.
import type { PoolClient } from 'pg'
import { callStream } from '../../../src/domain/call/events.js'
import { callsOf } from '../../../src/domain/lead/erasing/named-calls.js'
import type { ReadEvent } from '../read-event.js'

/** Why such a call is parked, after the id of its lead. */
export const unknownHere = 'is not known at this position of the log'

export function placedCalls (read: ReadEvent[]): string[] {
  return read.flatMap(({ event }) => {
    const isOfErasure = event?.type === 'LeadErased' || event?.type === 'LeadRestated'
    return isOfErasure ? callsOf(event).map(({ call_id }) => call_id) : []
  })
}

/** Nothing is left to be done for them by hand. */
export async function unparkPlaced (tx: PoolClient, calls: string[]): Promise<void> {
  if (calls.length === 0) return
  await tx.query(`
    DELETE FROM ledger.parked_events
    WHERE consumer = 'dispatcher' AND event_type = 'CallCompleted' AND strpos(error, $2) > 0
      AND stream_digest IN (SELECT ledger.digest_of(stream) FROM unnest($1::text[]) AS placed (stream))`,
  [calls.map(callStream), unknownHere])
}
