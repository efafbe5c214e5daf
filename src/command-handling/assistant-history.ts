// Reads an assistant's history straight from its events.
import { assistantStream, type AssistantEvent } from '../domain/assistant/events.js'
import { historyOf, type HistoryEntry } from '../domain/assistant/history.js'
import { decode } from '../domain/events.js'
import type { Streams } from '../event-store/streams.js'

/** Every entry, newest first; nothing when the user has no such assistant. @throws EventStoreUnavailable */
export type AssistantHistory = (userId: string, assistantId: number) => Promise<HistoryEntry[] | undefined>

export function assistantHistory (streams: Pick<Streams, 'read'>): AssistantHistory {
  return async (userId, assistantId) => {
    const stored = await streams.read(assistantStream(assistantId))
    const events = stored.map(decode).filter((event) => event !== undefined).filter(isOfAssistant)
    return events[0]?.data.user_id === userId ? historyOf(events).reverse() : undefined
  }
}

const isOfAssistant = (event: { type: string }): event is AssistantEvent =>
  event.type === 'AssistantCreated' || event.type === 'AssistantUpdated'
