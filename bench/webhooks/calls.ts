// The log of the bench: users with one assistant each, and calls that ended.
import { randomUUID } from 'node:crypto'
import { assistantStream } from '../../src/domain/assistant/events.js'
import { defaultSettings } from '../../src/domain/assistant/settings.js'
import { callStream, type CallCompleted } from '../../src/domain/call/events.js'
import { currentVersion, type DomainEvent } from '../../src/domain/events.js'
import { frontDesk } from '../../src/domain/examples.js'
import { noStream, type Streams } from '../../src/event-store/streams.js'
import { completedCall } from '../../src/http/docs/examples.js'
import type { Random } from '../support/random.js'
import { transcript } from '../support/speech.js'

/** Enough that the ten slots of each endpoint are not what holds the worker up. */
export const userCount = 50
const appendsAtOnce = 64

/** One for each user, from `firstId` on; their webhooks go to `url`, each to a path of its own. */
export async function createAssistants (streams: Streams, url: string, firstId: number): Promise<void> {
  for (let id = firstId; id < firstId + userCount; id++) await createAssistant(streams, `${url}/${id}`, id)
}

/** Of the user of the same id. */
export async function createAssistant (streams: Streams, webhook_url: string, assistant_id: number): Promise<void> {
  const settings = {
    ...defaultSettings(),
    ...frontDesk,
    calls_direction: 'make' as const,
    is_webhook_active: true,
    webhook_url
  }
  const created_at = new Date().toISOString()
  const data = { assistant_id, user_id: String(assistant_id), settings, status: 'active' as const, created_at }
  await append(streams, assistantStream(assistant_id), { type: 'AssistantCreated', data })
}

/** Reports so many calls of the assistants from `firstId` on, as fast as the event store takes them. */
export async function completeCalls (streams: Streams, chance: Random, count: number, firstId: number): Promise<void> {
  let made = 0
  await Promise.all(Array.from({ length: appendsAtOnce }, async () => {
    while (made < count) await completeCall(streams, endedCall(chance, firstId + made++ % userCount))
  }))
}

export async function completeCall (streams: Streams, call: CallCompleted): Promise<void> {
  await append(streams, callStream(call.call_id), { type: 'CallCompleted', data: call })
}

export function endedCall (chance: Random, assistant_id: number): CallCompleted {
  const [startedAt, duration] = [Date.UTC(2026, 0, 31), chance.whole(10, 300)]
  return {
    ...completedCall,
    call_id: chance.uuid(),
    assistant_id,
    lead_id: null,
    started_at: new Date(startedAt).toISOString(),
    ended_at: new Date(startedAt + duration * 1_000).toISOString(),
    duration,
    transcript: transcript(chance),
    extracted_variables: { status: true, summary: 'The appointment stays as it is.' }
  }
}

async function append (streams: Streams, stream: string, { type, data }: DomainEvent): Promise<void> {
  const metadata = { schema_version: currentVersion(type) }
  await streams.append(stream, [{ id: randomUUID(), type, data, metadata }], noStream)
}
