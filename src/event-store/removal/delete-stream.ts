// Deletes a stream so that this can be undone: its events are hidden, and new ones can be appended.
import { StreamDeletedError, WrongExpectedVersionError } from '@eventstore/db-client'
import type { EventStoreConnection } from '../connection/connection.js'
import { appendError, RevisionConflict, StreamGone } from '../errors.js'

/** @throws RevisionConflict, StreamGone, EventStoreUnavailable, AppendOutcomeUnknown: a second call finds out */
export async function deleteStream (
  connection: EventStoreConnection, stream: string, expected: bigint, withinMs: number
): Promise<void> {
  const options = { expectedRevision: expected, requiresLeader: true, deadline: withinMs }
  try {
    await connection.onLeader(({ client }) => client.deleteStream(stream, options))
  } catch (cause) {
    if (cause instanceof WrongExpectedVersionError) throw new RevisionConflict('the stream has moved on', { cause })
    if (cause instanceof StreamDeletedError) throw new StreamGone('the stream was deleted for good', { cause })
    throw appendError(cause)
  }
}
