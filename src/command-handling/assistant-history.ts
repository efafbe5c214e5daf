// Reads an assistant's history straight from its events.
import { assistantStream, isAssistantEvent } from '../domain/assistant/events.js'
import { historyOf, type HistoryEntry } from '../domain/assistant/history.js'
import { decode } from '../domain/events.js'
import type { Streams } from '../event-store/streams.js'

/** Every entry, newest first; nothing when the user has no such assistant. @throws EventStoreUnavailable */
export type AssistantHistory = (userId: string, assistantId: number) => Promise<HistoryEntry[] | undefined>

export function assistantHistory (streams: Pick<Streams, 'read'>): AssistantHistory {
  return async (userId, assistantId) => {
    const stored = await streams.read(assistantStream(assistantId))
    const events = stored.map(decode).filter((event) => event !== undefined).filter(isAssistantEvent)
    return events[0]?.data.user_id === userId ? historyOf(events).reverse() : undefined
  }
}
