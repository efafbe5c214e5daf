// Appends what an erasure leaves in a stream.
import type { DomainEvent } from '../../domain/events.js'
import { uuidV5 } from '../../log/stored.js'
import { RevisionConflict } from '../../log/errors.js'
import type { Proposed } from '../../log/append-call.js'
import type { Streams } from '../../log/event-log.js'
import { proposed } from '../proposed.js'

export interface ErasingOptions {
  streams: Pick<Streams, 'visit' | 'append' | 'truncate'>
  /** For whom, and of which request: what each event names as its cause. */
  userId: string
  requestId: string
  /** ISO 8601. */
  now: string
  /** Forgets what these commands answered. Their retries are refused: their events may not be found any more. */
  forget? (commandIds: readonly string[]): Promise<void>
}

/** Where the stream ends, and the commands that have written to it. */
export interface SeenEnd { revision: bigint, commandIds: ReadonlySet<string> }

/** @returns the revision of the last one; nothing when somebody else was first */
export async function appendErasing (
  { streams, userId, requestId, forget }: ErasingOptions, stream: string, { revision, commandIds }: SeenEnd,
  events: DomainEvent[]
): Promise<bigint | undefined> {
  await forget?.([...commandIds])
  const commandId = uuidV5(requestId, `${stream}@${revision}`)
  return await appendAt(streams, stream, proposed(events, { commandId, correlationId: requestId, userId }), revision)
}

/** @returns the revision of the last one; nothing when somebody else was first */
export async function appendAt (
  streams: Pick<Streams, 'append'>, stream: string, events: Proposed[], revision: bigint
): Promise<bigint | undefined> {
  try {
    return (await streams.append(stream, events, revision)).revision
  } catch (error) {
    if (error instanceof RevisionConflict) return undefined
    throw error
  }
}
