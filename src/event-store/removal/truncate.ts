// Hides the beginning of a stream for good: a scavenge then takes it out of the store.
import type { EventStoreConnection } from '../connection/connection.js'
import { readError } from '../errors.js'
import { withTimeout } from '../with-timeout.js'

/**
 * To be called once the event at revision `before` was acknowledged: the events before it are not needed any more.
 * A second call changes nothing.
 * @throws EventStoreUnavailable
 */
export async function truncate (
  connection: EventStoreConnection, stream: string, before: bigint, withinMs: number
): Promise<void> {
  try {
    await connection.onLeader(async ({ client }) => {
      // The client turns the number into JSON: a stream never has so many events that it would not be exact.
      await withTimeout(withinMs, client.setStreamMetadata(stream, { truncateBefore: Number(before) }))
    })
  } catch (error) {
    throw readError(error)
  }
}
