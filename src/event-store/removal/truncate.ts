// Hides the beginning of a stream for good: a scavenge then takes it out of the store.
import { ANY, NO_STREAM, WrongExpectedVersionError as Conflict } from '@eventstore/db-client'
import type { EventStoreConnection } from '../connection/connection.js'
import { NoAnswer, readError, RevisionConflict } from '../errors.js'
import { withTimeout } from '../../timing/with-timeout.js'

/**
 * To be called once the event at revision `before` was acknowledged: the events before it are not needed any more.
 * A second call changes nothing.
 * @param metadata the last revision of the stream's metadata, -1 for none; any when absent
 * @throws RevisionConflict when somebody else wrote metadata, EventStoreUnavailable
 */
export async function truncate (
  connection: EventStoreConnection, stream: string, before: bigint, withinMs: number, metadata?: bigint
): Promise<void> {
  const expectedRevision = metadata === -1n ? NO_STREAM : metadata ?? ANY
  try {
    await connection.onLeader(async ({ client }) => {
      // The client turns the number into JSON: a stream never has so many events that it would not be exact.
      const written = client.setStreamMetadata(stream, { truncateBefore: Number(before) }, { expectedRevision })
      await withTimeout(withinMs, written, () => new NoAnswer(withinMs))
    })
  } catch (error) {
    if (error instanceof Conflict) throw new RevisionConflict('the metadata has moved on')
    throw readError(error)
  }
}
