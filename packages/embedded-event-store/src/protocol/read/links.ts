// Link events: `$>` with `revision@stream` as data stands for another event, where that can still be seen.
import type { RecordedEvent, StreamPlace } from '../../log/event.js'
import type { EventLog } from '../../log/log.js'
import { firstVisible, isFresh } from '../../log/stream-state.js'
import { bytesOf, eventMessage, linkResponse } from './wire.js'

/** The responses for these events, links replaced by their targets. One look-up for all of them. */
export async function resolveLinks (log: EventLog, events: readonly RecordedEvent[]): Promise<Buffer[]> {
  const found = await log.reader.eventsAt(events.flatMap((event) => targetOf(event) ?? []))
  const targets = new Map(found.map((event) => [keyOf(event), event]))
  return await Promise.all(events.map(async (event) => {
    const place = targetOf(event)
    if (place === undefined) return bytesOf(eventMessage(event))
    const target = targets.get(keyOf(place))
    const isSeen = target !== undefined && await isVisible(log, target)
    return linkResponse(event, isSeen ? target : undefined)
  }))
}

async function isVisible (log: EventLog, event: RecordedEvent): Promise<boolean> {
  const state = await log.reader.stream(event.stream)
  return !state.isTombstoned && event.revision >= firstVisible(state) && isFresh(state, event)
}

/** What is no `revision@stream`, with the number as .NET reads one, is an event like any other. */
function targetOf (event: RecordedEvent): StreamPlace | undefined {
  if (event.type !== '$>') return undefined
  const [, revision, stream] = /^\s*([+-]?\d{1,15})\s*@([^]+)$/.exec(Buffer.from(event.data).toString('utf8')) ?? []
  return revision === undefined || stream === undefined ? undefined : { stream, revision: Number(revision) || 0 }
}

const keyOf = (target: StreamPlace) => `${target.revision}@${target.stream}`
