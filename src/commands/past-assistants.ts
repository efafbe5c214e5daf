// Assistants as they were: folded from the log, up to a revision.
import { assistantDecider, type AssistantAtRevision, type AssistantState } from '../features/assistants/model.js'
import { assistantStream } from '../features/assistants/events.js'
import type { StoredEvent } from '../domain/stored-event.js'
import type { Streams } from '../log/event-log.js'
import { emptyStream, withNext } from './folded-stream.js'
import { StreamBusy, waitMs } from './command-request.js'
import { Shares } from './shares.js'

/**
 * The user's assistant after the event at `revision`; nothing when it is another user's, or has no such revision.
 * @throws StreamBusy, EventStoreUnavailable
 */
export type AssistantAt = (userId: string, id: number, revision: number) => Promise<AssistantAtRevision | undefined>

export function pastAssistants (streams: Pick<Streams, 'visit'>): AssistantAt {
  const atOnce = new Shares(3, waitMs)
  return async (userId, id, revision) => {
    const stream = assistantStream(id)
    const release = await atOnce.acquire(userId)
    if (!release) throw new StreamBusy(`on ${stream}`)
    let past = emptyStream<AssistantState>(assistantDecider)
    const next = (stored: StoredEvent) => { past = withNext(assistantDecider, past, stored) }
    await streams.visit(stream, 0n, next, revision + 1).finally(release)
    const { state, stateRevision, revision: last } = past
    if (state?.user_id !== userId || last !== BigInt(revision)) return undefined
    return { ...state, revision: Number(stateRevision) }
  }
}
