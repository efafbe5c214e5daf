// Parks events for operators, who find them in `ledger.parked_events`.
import type { PoolClient } from 'pg'
import type { StoredEvent } from '../domain/stored-event.js'

/** Records that `consumer` did not take the event, in the transaction that moves its checkpoint past it. */
export async function park (
  tx: PoolClient, consumer: string, { stream, revision, position, type }: StoredEvent, problem: string
): Promise<void> {
  await tx.query(`
    INSERT INTO ledger.parked_events (consumer, stream, revision, position, event_type, error)
    VALUES ($1, $2, $3, $4, $5, $6)
    ON CONFLICT DO NOTHING`, [consumer, storable(stream), revision, position, type, storable(problem)])
}

/** Postgres has no NUL in text. */
export const storable = (text: string) => text.replaceAll('\0', '\\0')
