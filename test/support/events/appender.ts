// Appends events to their streams, each at the present revision of its stream.
import { noStream, type Streams } from '../../../src/log/event-log.js'
import { proposed, type Told } from './call-events.js'
import type { Pool } from 'pg'
import type { StoredEvent } from '../../../src/domain/stored-event.js'
import { readCheckpoint } from '../../../src/subscriptions/checkpoint.js'
import type { OpenConsumer } from '../../../src/subscriptions/run.js'

/** Returns the position of the last event. */
export function appender (streams: Streams): (...told: Told[]) => Promise<bigint> {
  const revisions = new Map<string, bigint>()
  return async (...told) => {
    let last = 0n
    for (const each of told) {
      const { stream } = each
      const { revision, position } = await streams.append(stream, [proposed(each)], revisions.get(stream) ?? noStream)
      revisions.set(stream, revision)
      last = position
    }
    return last
  }
}

export async function commitEvents (consumer: OpenConsumer, events: StoredEvent[], pool: Pool): Promise<void> {
  const from = await readCheckpoint(pool, consumer.checkpointTable)
  await consumer.write({ events, position: events.at(-1)?.position ?? from }, from, 0n)
}
