// Appends what an erasure leaves in a stream.
import type { DomainEvent } from '../../domain/events.js'
import { uuidV5 } from '../../event-store/event-id.js'
import { RevisionConflict } from '../../event-store/errors.js'
import type { Streams } from '../../event-store/streams.js'
import { proposed } from '../proposed.js'

export interface ErasingOptions {
  streams: Pick<Streams, 'visit' | 'append' | 'truncate'>
  /** For whom, and of which request: what each event names as its cause. */
  userId: string
  requestId: string
  /** ISO 8601. */
  now: string
}

/** @returns the revision of the last one; nothing when somebody else was first */
export async function appendErasing (
  { streams, userId, requestId }: ErasingOptions, stream: string, revision: bigint, events: DomainEvent[]
): Promise<bigint | undefined> {
  const commandId = uuidV5(requestId, `${stream}@${revision}`)
  try {
    const sent = proposed(events, { commandId, correlationId: requestId, userId })
    return (await streams.append(stream, sent, revision)).revision
  } catch (error) {
    if (error instanceof RevisionConflict) return undefined
    throw error
  }
}
