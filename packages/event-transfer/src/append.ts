// Appends what the target lacks, in log order: batches consecutive events of a stream, with many appends in flight.
import { AtOtherRevision, LacksEarlier, NotTaken } from './failure.js'
import { isTombstone, type Recorded } from './recorded.js'
import { placeholder, type Limits } from './source.js'
import { sizeOf, type Store } from './store.js'

/** Limits of an append that every EventStoreDB accepts, so that no append of the source is split. */
const most = { bytes: 1024 * 1024, events: 10_000 }

interface AppendOptions {
  /** First revisions of streams that lack earlier events. The first event of such a stream is sent alone. */
  limits: Limits
  /** Most appends in flight. */
  inFlight: number
  /** Gets the position of every event sent. */
  onEvent (position: bigint): void
}

/**
 * Appends `rest` to the target and returns when it is durable.
 * @throws NotTaken when the target has moved on, TransferRefused, or an Error when the target is gone
 */
export async function appendRest (
  rest: AsyncIterable<Recorded>, target: Store, { limits, inFlight, onEvent }: AppendOptions
): Promise<undefined> {
  const pipe = await target.openPipe(inFlight)
  let batch: Recorded[] = [] // consecutive events of one stream, for one append
  let bytes = 0
  const send = async () => {
    const [first, ...others] = batch
    batch = []
    bytes = 0
    if (first) await pipe.append([first, ...others])
  }
  const fits = (event: Recorded) => {
    const last = batch.at(-1)
    const follows = last?.stream === event.stream && last.revision + 1n === event.revision
    return follows && batch.length < most.events && bytes + sizeOf(event) <= most.bytes
  }
  try {
    for await (const event of rest) {
      const { stream, revision, position } = event
      const isAlone = isTombstone(event) || (revision > 0n && revision === limits.beginOf(stream))
      if (isAlone || !fits(event)) await send()
      if (isAlone) await pipe.drain()
      if (isTombstone(event)) await target.tombstone(stream)
      else if (isAlone) await appendBehindGap(target, event)
      else {
        batch.push(event)
        bytes += sizeOf(event)
      }
      onEvent(position)
    }
    await send()
    await pipe.drain()
  } finally {
    pipe.close()
  }
}

/** Placeholders per append. */
const mostPlaceholders = 5_000n

/**
 * Fills the gap with placeholders, then appends the event. If the target already has an event at this revision, the
 * comparison decides whether it is the same: a server writes some metadata itself.
 * @throws NotTaken, TransferRefused, or an Error when the target is gone
 */
async function appendBehindGap (target: Store, event: Recorded): Promise<void> {
  const { stream, revision } = event
  const moved = () => new NotTaken(`stream ${stream} of the target was written to meanwhile`)
  const current = await currentUnlessTaken(target, [event])
  if (current === undefined || current >= revision) return
  for (let next = current + 1n; next < revision;) {
    const end = next + mostPlaceholders < revision ? next + mostPlaceholders : revision
    const others = Array.from({ length: Number(end - next) - 1 }, (_, n) => placeholder(stream, next + 1n + BigInt(n)))
    if (await currentUnlessTaken(target, [placeholder(stream, next), ...others]) !== undefined) throw moved()
    next = end
  }
  const left = await currentUnlessTaken(target, [event])
  if (left !== undefined && left < revision) throw moved()
}

/** Undefined when the target took the events, else the revision of the last event of its stream. */
async function currentUnlessTaken (target: Store, events: [Recorded, ...Recorded[]]): Promise<bigint | undefined> {
  const pipe = await target.openPipe(1)
  try {
    await pipe.append(events)
    await pipe.drain()
    return undefined
  } catch (error) {
    if (error instanceof AtOtherRevision || error instanceof LacksEarlier) return error.current
    throw error
  } finally {
    pipe.close()
  }
}
