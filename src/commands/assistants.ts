// Reads from the log who owns an assistant, and what it was at a past revision.
import { LRUCache } from 'lru-cache'
import { tryDecode } from '../domain/events.js'
import { assistantStream } from '../features/assistants/events.js'
import { assistantDecider, type AssistantAtRevision } from '../features/assistants/model.js'
import type { Streams } from '../log/event-log.js'
import { foldStream, StreamBusy, waitMs } from './handle.js'
import { Shares } from './shares.js'

/** Undefined when there is no such assistant. */
export async function assistantOwner (streams: Pick<Streams, 'read'>, assistantId: number): Promise<string | undefined> {
  const [stored] = await streams.read(assistantStream(assistantId), 0n, 1)
  const { event } = stored ? tryDecode(stored) : {} // anybody can append anything to the log
  return event?.type === 'AssistantCreated' ? event.data.user_id : undefined
}

/** The cache stays below 5 MiB, as a user id has 128 characters at most. */
const rememberedOwners = 10_000
/** An assistant never changes its owner, but a log that went back may have lost the assistant. */
const rememberedMs = 60_000

/**
 * Reads the owner from the assistant's stream, because a call may follow its assistant at once. Caches owners for a
 * minute: most calls are of few assistants.
 */
export function assistantOwners (streams: Pick<Streams, 'read'>): (assistantId: number) => Promise<string | undefined> {
  const known = new LRUCache<number, string>({ max: rememberedOwners, ttl: rememberedMs })
  return async (assistantId) => {
    const owner = known.get(assistantId) ?? await assistantOwner(streams, assistantId)
    if (owner !== undefined && !known.has(assistantId)) known.set(assistantId, owner)
    return owner
  }
}

/**
 * The user's assistant after the event at `revision`; undefined when it is another user's, or has no such revision.
 * @throws StreamBusy, EventStoreUnavailable
 */
export type AssistantAt = (userId: string, id: number, revision: number) => Promise<AssistantAtRevision | undefined>

export function pastAssistants (streams: Pick<Streams, 'visit'>): AssistantAt {
  const atOnce = new Shares(3, waitMs)
  return async (userId, id, revision) => {
    const stream = assistantStream(id)
    const release = await atOnce.acquire(userId)
    if (!release) throw new StreamBusy(`on ${stream}`)
    const past = await foldStream(streams, assistantDecider, stream, revision + 1).finally(release)
    const { state, stateRevision, revision: last } = past
    if (state?.user_id !== userId || last !== BigInt(revision)) return undefined
    return { ...state, revision: Number(stateRevision) }
  }
}
