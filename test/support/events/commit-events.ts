// Gives events to a consumer as a subscription does: at once where it can, else in a transaction.
import type { Pool } from 'pg'
import type { StoredEvent } from '../../../src/domain/stored-event.js'
import { readCheckpoint } from '../../../src/subscriptions/checkpoint.js'
import type { OpenConsumer } from '../../../src/subscriptions/consumer.js'
import { commitBatch } from '../../../src/subscriptions/run.js'

/** As one batch, from where the checkpoint is. */
export async function commitEvents (consumer: OpenConsumer, events: StoredEvent[], pool: Pool): Promise<void> {
  const from = await readCheckpoint(pool, consumer.checkpointTable)
  await commitBatch(consumer, { events, position: events.at(-1)?.position ?? from }, from, { epoch: 0n }, pool)
}
