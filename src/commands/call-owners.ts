// Finds out whose assistant a reported call names.
import { LRUCache } from 'lru-cache'
import { assistantStream } from '../features/assistants/events.js'
import { tryDecode } from '../domain/events.js'
import type { Streams } from '../log/event-log.js'

/** The newest of them; together less than 5 MiB, as a user id has 128 characters at most. */
const rememberedOwners = 10_000
/** An assistant keeps its owner for ever. A log that went back may have lost it. */
const rememberedMs = 60_000

/**
 * An assistant is read from its own stream, so that a call may follow its assistant at once, and its owner is
 * remembered for a minute: most calls are of few assistants.
 */
export function callOwners (streams: Pick<Streams, 'read'>) {
  const known = new LRUCache<number, string>({ max: rememberedOwners, ttl: rememberedMs })
  return async (assistantId: number): Promise<string | undefined> => {
    const remembered = known.get(assistantId)
    if (remembered !== undefined) return remembered
    const owner = await assistantOwner(streams, assistantId)
    if (owner !== undefined) known.set(assistantId, owner)
    return owner
  }
}

/** Nothing when there is no such assistant. */
export async function assistantOwner (
  streams: Pick<Streams, 'read'>, assistantId: number
): Promise<string | undefined> {
  const [stored] = await streams.read(assistantStream(assistantId), 0n, 1)
  const { event } = stored ? tryDecode(stored) : {} // anybody can append anything to the log
  return event?.type === 'AssistantCreated' ? event.data.user_id : undefined
}
