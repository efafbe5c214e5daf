// Bodies of calls that were not to be sent when they ended: built from the log, with what is known by now.
import type { PoolClient } from 'pg'
import { type CallCompleted, callStream } from '../../src/features/calls/events.js'
import type { StoredEvent } from '../../src/domain/stored-event.js'
import type { Streams } from '../../src/log/event-log.js'
import { buildBody } from '../dispatch/payload.js'
import { readEvent } from '../dispatch/read-event.js'
import type { DispatchState } from '../dispatch/state/state.js'
import { loadState } from '../dispatch/state/load.js'

/** Each may have a megabyte. */
const atOnce = 10
const mostBefore = 20

/**
 * Gives the skipped deliveries of these calls their bodies, which makes them `cancelled`: as good as any other that can
 * begin anew. A call that cannot be read, or that its assistant sends none of, stays skipped.
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
  const read = stored.map(readEvent)
  const { state } = await loadState(tx, read.flatMap(({ event }) => event ?? []), [])
  return read.flatMap(({ stored: { created }, event }) => {
    const call = event?.type === 'CallCompleted' ? event.data : undefined
    const body = call && bodyOf(state, call, created)
    return call && body !== undefined ? { callId: call.call_id, body } : []
  })
}

function bodyOf (state: DispatchState, call: CallCompleted, at: Date): string | undefined {
  const assistant = state.assistants.get(call.assistant_id)
  const isUnwanted = assistant?.settings.send_webhook_only_on_completed && call.status !== 'completed'
  if (!assistant || isUnwanted) return undefined
  const found = call.lead_id === null ? undefined : state.leads.get(call.lead_id)
  const lead = found?.user_id === assistant.user_id ? found : undefined
  const campaignName = lead && state.campaigns.get(lead.campaign_id)?.name
  return buildBody({ call, at, assistant, lead, campaignName })
}

async function storeBodies (tx: PoolClient, built: Built[]): Promise<void> {
  await tx.query(`
    UPDATE ledger.webhook_deliveries d SET body = built.body, status = 'cancelled', reason = NULL
    FROM unnest($1::text[], $2::text[]) AS built (call_id, body)
    WHERE d.call_id = built.call_id AND d.type = 'call.completed' AND d.status = 'skipped' AND d.erased_at IS NULL`,
  [built.map(({ callId }) => callId), built.map(({ body }) => body)])
}
