// Builds the bodies of calls that were skipped when they ended, from the log and with what is known by now.
import type { PoolClient } from 'pg'
import { callStream } from '../../src/features/calls/events.js'
import type { StoredEvent } from '../../src/domain/stored-event.js'
import type { Streams } from '../../src/log/event-log.js'
import { loadMissing, readEvents, MemoryRows } from '../../projections/engine/rows.js'
import { bodyOf, dispatching } from '../dispatch/dispatch.js'
import { DispatchEffects } from '../dispatch/effects.js'
import { assistantTable } from '../dispatch/known.js'

/** Each may have a megabyte. */
const atOnce = 10
const mostBefore = 20

/**
 * Gives the skipped deliveries of these calls their bodies and makes them `cancelled`, so that they can begin anew like
 * any other. A call stays skipped if nobody can read it, or if its assistant sends no such calls.
 */
export async function buildSkippedBodies (
  tx: PoolClient, streams: Pick<Streams, 'read'>, callIds: string[]
): Promise<void> {
  for (let from = 0; from < callIds.length; from += atOnce) {
    const some = callIds.slice(from, from + atOnce)
    const reports = await Promise.all(some.map((callId) => firstReport(streams, callStream(callId))))
    await storeBodies(tx, await bodiesOf(tx, reports.flatMap((report) => report ?? [])))
  }
}

/** Hardly any stream of a call begins with something else. */
async function firstReport (streams: Pick<Streams, 'read'>, stream: string): Promise<StoredEvent | undefined> {
  const [first] = await streams.read(stream, 0n, 1)
  if (first === undefined || first.type === 'CallCompleted') return first
  return (await streams.read(stream, 0n, mostBefore)).find(({ type }) => type === 'CallCompleted')
}

interface Built { callId: string, body: string }

async function bodiesOf (tx: PoolClient, stored: StoredEvent[]): Promise<Built[]> {
  const consumer = dispatching(new DispatchEffects())
  const built: Built[] = []
  for (let left = readEvents(consumer, stored); left.length > 0;) {
    const rows = new MemoryRows(consumer.tables)
    const count = await loadMissing(consumer, tx, 'ledger', rows, left)
    for (const each of left.slice(0, count)) {
      if (!('event' in each) || each.event.type !== 'CallCompleted') continue
      const { event: { data: call }, stored: { created } } = each
      const assistant = rows.get(assistantTable, call.assistant_id)
      if (!assistant || (assistant.settings.send_webhook_only_on_completed && call.status !== 'completed')) continue
      built.push({ callId: call.call_id, body: bodyOf(rows, call, created, assistant) })
    }
    left = left.slice(count)
  }
  return built
}

async function storeBodies (tx: PoolClient, built: Built[]): Promise<void> {
  await tx.query(`
    UPDATE ledger.webhook_deliveries d SET body = built.body, status = 'cancelled', reason = NULL
    FROM unnest($1::text[], $2::text[]) AS built (call_id, body)
    WHERE d.call_id = built.call_id AND d.type = 'call.completed' AND d.status = 'skipped' AND d.erased_at IS NULL`,
  [built.map(({ callId }) => callId), built.map(({ body }) => body)])
}
