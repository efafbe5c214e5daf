// Assistants as they were: folded from the log, up to a revision.
import { randomUUID } from 'node:crypto'
import { assistantDecider, type AssistantAtRevision } from '../features/assistants/model.js'
import { assistantStream } from '../features/assistants/events.js'
import type { CommandHandler } from './handle-command.js'

/**
 * The user's assistant after the event at `revision`; nothing when it is another user's, or has no such revision.
 * @throws StreamBusy, EventStoreUnavailable
 */
export type AssistantAt = (userId: string, id: number, revision: number) => Promise<AssistantAtRevision | undefined>

export function pastAssistants ({ stateAt }: Pick<CommandHandler, 'stateAt'>): AssistantAt {
  return async (userId, id, revision) => {
    const origin = { commandId: randomUUID(), userId }
    const request = { aggregate: assistantDecider, stream: assistantStream(id), origin }
    const { state, stateRevision, revision: last } = await stateAt(request, BigInt(revision))
    if (state?.user_id !== userId || last !== BigInt(revision)) return undefined
    return { ...state, revision: Number(stateRevision) }
  }
}
