// Counts the distinct calls of the log by a read of its own, in parts.
import { callIdOf } from '../../../src/features/calls/events.js'
import { typeInLog } from '../../../src/domain/sealed.js'
import type { StoredEvent } from '../../../src/domain/stored-event.js'
import type { Streams } from '../../../src/log/event-log.js'

export type CountedLog = Pick<Streams, 'followStored' | 'read' | 'head'>

/** How far a count has come. */
export interface Count {
  /** Of the log: everything up to here is counted. */
  position: bigint
  calls: number
  /**
   * Where the log ended when this count began. A call that was erased before counts once, at its erasure: a scavenge
   * may have taken its report. One that was erased later has counted at its report.
   */
  beganAt: bigint
  /** Calls were erased before: the stream of each that was reported before is looked at. */
  hasErased: boolean
  /** Calls were erased later. If a scavenge was quicker than the count, their report was not counted. */
  metErased: boolean
}

/** From the beginning of the log. @throws EventStoreUnavailable */
export async function newCount ({ head }: Pick<CountedLog, 'head'>, hasErased = false): Promise<Count> {
  return { position: 0n, calls: 0, beganAt: await head(), hasErased, metErased: false }
}

const report = 'CallCompleted'
const erasure = 'CallErased'

/** Goes on up to `end`, part by part; each is the whole count so far. It may have begun again. */
export async function * countOn (
  streams: CountedLog, from: Count, end: bigint, signal: AbortSignal
): AsyncGenerator<Count> {
  let count = from
  if (end <= count.position) return
  const eventTypes = [report, erasure]
  for await (const batch of streams.followStored({ after: count.position, eventTypes, signal })) {
    count = { ...count }
    for (const event of batch.events) {
      if (event.position > end || callIdOf(event.stream) === undefined) continue
      const isErasedBefore = isErasure(event) && event.position <= count.beganAt
      if (isErasedBefore && !count.hasErased) {
        yield * countOn(streams, await newCount(streams, true), end, signal)
        return
      }
      count.metErased ||= isErasure(event) && !isErasedBefore
      if (await isCounted(streams, event, count)) count.calls += 1
    }
    count.position = batch.position < end ? batch.position : end
    yield count
    if (batch.position >= end) return
  }
}

/** Hardly any stream of a call has more events, or begins with another one. */
const mostBefore = 100

/** Nothing is remembered of a call: its stream shows whether it counts at this event. */
async function isCounted ({ read }: CountedLog, event: StoredEvent, count: Count): Promise<boolean> {
  const { stream, revision, position } = event
  if (isErasure(event)) return position <= count.beganAt && (await read(stream, 0n, 1))[0]?.id === event.id
  const mayBeErased = count.hasErased && position <= count.beganAt
  if (revision === 0n && !mayBeErased) return true
  const [first] = await read(stream, 0n, 1)
  if (first && isErasure(first)) return revision === 0n && first.position > count.beganAt
  if (revision === 0n) return true
  if (first && !isOther(first)) return false
  const earlier = await read(stream, 0n, mostBefore)
  return !earlier.some((event) => !isOther(event) && event.revision < revision)
}

/** A report that nobody can read any more is one all the same. */
const isErasure = (event: StoredEvent) => typeInLog(event) === erasure
const isOther = (event: StoredEvent) => typeInLog(event) !== report
