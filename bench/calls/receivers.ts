// Whose calls are reported: assistants whose receivers answer at once, and some more of which a part never does.
import { EventStoreConnection } from '../../src/event-store/connection/connection.js'
import { openStreams } from '../../src/event-store/streams.js'
import { createAssistant, createAssistants, userCount } from '../webhooks/calls.js'

/** Behind the others: of so many endpoints these hang. */
export const hanging = { first: 1 + userCount, endpoints: 20, hang: 4 }

/** @param urls of a receiver that answers, and of one that never does */
export async function createAll (eventStoreUrl: string, urls: { answering: string, silent: string }): Promise<void> {
  const connection = new EventStoreConnection(eventStoreUrl)
  const streams = openStreams(connection)
  await createAssistants(streams, urls.answering, 1)
  for (let n = 0; n < hanging.endpoints; n++) {
    const base = n < hanging.hang ? urls.silent : urls.answering
    await createAssistant(streams, `${base}/${hanging.first + n}`, hanging.first + n)
  }
  await connection.close()
}

/** The n-th call: those whose receivers hang are not waited for. */
export function besideHanging (nth: number): { id: number, isAwaited: boolean } {
  const n = nth % hanging.endpoints
  return { id: hanging.first + n, isAwaited: n >= hanging.hang }
}
