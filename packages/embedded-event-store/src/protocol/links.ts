// Link events: `$>` with `revision@stream` as data stands for another event, where that can still be seen.
import type { RecordedEvent } from '../log/event.js'
import type { EventLog } from '../log/log.js'
import { firstVisible, isFresh } from '../log/stream-state.js'
import { danglingLink, readResponse } from './wire.js'

interface Target { stream: string, revision: number }

/** The responses for these events, links replaced by their targets. One look-up for all of them. */
export async function resolveLinks (log: EventLog, events: readonly RecordedEvent[]): Promise<Buffer[]> {
  const targets = new Map(events.flatMap((event) => {
    const target = targetOf(event)
    return target === undefined ? [] : [[event, target] as const]
  }))
  const found = new Map((await log.eventsAt([...targets.values()])).map((event) => [keyOf(event), event]))
  return await Promise.all(events.map(async (event) => {
    if (event.type !== '$>') return readResponse(event)
    const target = targets.get(event)
    const resolved = target === undefined ? undefined : found.get(keyOf(target))
    return resolved !== undefined && await isVisible(log, resolved) ? readResponse(resolved, event) : danglingLink(event)
  }))
}

async function isVisible (log: EventLog, event: RecordedEvent): Promise<boolean> {
  const state = await log.stream(event.stream)
  return !state.isTombstoned && event.revision >= firstVisible(state) && isFresh(state, event)
}

function targetOf (event: RecordedEvent): Target | undefined {
  if (event.type !== '$>') return undefined
  const [, revision, stream] = /^(\d{1,15})@([^]+)$/.exec(Buffer.from(event.data).toString('utf8')) ?? []
  return revision === undefined || stream === undefined ? undefined : { stream, revision: Number(revision) }
}

const keyOf = (target: Target) => `${target.revision}@${target.stream}`
