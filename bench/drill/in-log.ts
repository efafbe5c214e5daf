// What the log has of the drill, read by itself from its beginning to its end.
import type { DomainEvent } from '../../src/domain/events.js'
import { tryDecode } from '../../src/domain/events.js'
import { EventStoreConnection } from '../../src/event-store/connection/connection.js'
import { openStreams } from '../../src/event-store/streams.js'
import { nameOf } from './book.js'

const eventTypes = ['LeadCreated', 'AssistantUpdated', 'CallCompleted']

/** How often each name of the drill's users is there, in the order of the log. */
export async function namesInLog (eventstore: string, walker: string): Promise<Map<string, number>> {
  const connection = new EventStoreConnection(eventstore)
  const names = new Map<string, number>()
  const walkers = new Set<number>()
  try {
    const streams = openStreams(connection)
    const [end, stop] = [await streams.head(), new AbortController()]
    const types = ['AssistantCreated', ...eventTypes]
    for await (const batch of streams.follow({ after: 0n, eventTypes: types, signal: stop.signal })) {
      for (const stored of batch.events) {
        const { event } = tryDecode(stored)
        const name = event && nameIn(event, walker, walkers)
        if (name !== undefined) names.set(name, 1 + (names.get(name) ?? 0))
      }
      if (batch.position >= end) break
    }
  } finally {
    await connection.close()
  }
  return names
}

/** Nothing for what belongs to the walk, which has looked at it itself. */
function nameIn ({ type, data }: DomainEvent, walker: string, walkers: Set<number>): string | undefined {
  switch (type) {
    case 'AssistantCreated':
      if (data.user_id === walker) walkers.add(data.assistant_id)
      return undefined
    case 'LeadCreated': return data.user_id === walker ? undefined : nameOf.lead(data.lead_id, data.phone_number)
    case 'AssistantUpdated': return walkers.has(data.assistant_id)
      ? undefined
      : nameOf.update(data.assistant_id, data.changes.initial_message ?? '')
    case 'CallCompleted': return walkers.has(data.assistant_id) ? undefined : nameOf.call(data.call_id)
    default: return undefined
  }
}
