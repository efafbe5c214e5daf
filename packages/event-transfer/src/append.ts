// Sends the target what it lacks: consecutive events of a stream in one append, many appends under way, in log order.
import { AtOtherRevision, LacksEarlier, NotTaken } from './failure.js'
import { isTombstone, type Recorded } from './recorded.js'
import { placeholder, type Limits } from './source.js'
import { sizeOf, type Store } from './store.js'

/** What every EventStoreDB takes in one append, and so no append of theirs is cut in two. */
const most = { bytes: 1024 * 1024, events: 10_000 }

interface AppendOptions {
  /** Where streams begin that lack events: the first one of each is sent alone. */
  limits: Limits
  /** Most appends under way at once. */
  inFlight: number
  /** Is told the position of every event that was sent. */
  onEvent (position: bigint): void
}

/**
 * Appends `rest` to the target and returns when it is durable.
 * @throws NotTaken when the target has moved, TransferRefused, or an Error when it is gone
 */
export async function appendRest (
  rest: AsyncIterable<Recorded>, target: Store, { limits, inFlight, onEvent }: AppendOptions
): Promise<undefined> {
  const pipe = await target.openPipe(inFlight)
  let batch: Recorded[] = [] // consecutive events of one stream, to be sent as one append
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

/** How many placeholders go in one append. */
const mostPlaceholders = 5_000n

/**
 * Where the target has an event at this revision already, it is left to the comparison whether it is the same: a server
 * writes some metadata by itself.
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

/** Nothing when the target has taken them, else the revision of the last event of its stream. */
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
