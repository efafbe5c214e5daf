// What the log has of the drill, read by itself from its beginning to its end.
import { type DomainEvent, tryDecode } from '../../src/domain/events.js'
import { openSealing } from '../../src/services/connections.js'
import { EventStoreConnection } from '../../src/log/connection.js'
import { EventLog, type Streams } from '../../src/log/event-log.js'
import { openPool } from '../../src/postgres/pool.js'
import type { Environment } from '../support/run.js'
import { nameOf } from './book.js'

const eventTypes = ['LeadCreated', 'AssistantUpdated', 'CallCompleted']

/** How often each name of the drill's users is there, in the order of the log. @param env of the service */
export async function namesInLog (env: Environment, walker: string): Promise<Map<string, number>> {
  const { EVENTSTORE_URL = '', DATABASE_URL = '', SECRET_KEY: secretKey = '', LEAD_DIGEST_KEY: leadDigestKey = '' } = env
  const connection = new EventStoreConnection(EVENTSTORE_URL)
  const pool = openPool(DATABASE_URL, { applicationName: 'drill', max: 1, onError: () => {} })
  const keys = { secrets: { secretKey, leadDigestKey }, previousSecretKeys: [] }
  const { streams } = openSealing(new EventLog(connection), pool, keys)
  try {
    return await namesIn(streams, walker)
  } finally {
    await Promise.all([connection.close(), pool.end()])
  }
}

async function namesIn (streams: Streams, walker: string): Promise<Map<string, number>> {
  const names = new Map<string, number>()
  const walkers = new Set<number>()
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
