// Sends the target what it lacks: consecutive events of a stream in one append, many appends under way, in log order.
import { placeholder, type Limits } from '../limited.js'
import { isTombstone, type Recorded } from '../recorded.js'
import { NotTaken } from '../refused.js'
import type { Store } from '../store.js'
import { AtOtherRevision, LacksEarlier } from './failure.js'
import { type AppendPipe, sizeOf } from './pipe.js'

/** What every EventStoreDB takes in one append, and so no append of theirs is cut in two. */
const most = { bytes: 1024 * 1024, events: 10_000 }

export interface AppendOptions {
  /** Where streams begin that lack events: the first one of each is sent alone. */
  limits: Limits | undefined
  /** Most appends under way at once. */
  inFlight: number
  /** Is told of every event that was sent. */
  onEvent (event: Recorded): void
}

/**
 * Appends `rest` to the target and returns when it is durable.
 * @throws NotTaken when the target has moved, TransferRefused, or an Error when it is gone
 */
export async function appendRest (
  rest: AsyncIterable<Recorded>, target: Store, { limits, inFlight, onEvent }: AppendOptions
): Promise<void> {
  const pipe = await target.openPipe(inFlight)
  const batch = new Batch(pipe)
  const isBehindGap = ({ stream, revision }: Recorded) => revision > 0n && revision === limits?.beginOf(stream)
  try {
    for await (const event of rest) {
      const isAlone = isTombstone(event) || isBehindGap(event)
      if (isAlone || !batch.fits(event)) await batch.send()
      if (isAlone) await pipe.drain()
      if (isTombstone(event)) await target.tombstone(event.stream)
      else if (isAlone) await appendBehindGap(target, event)
      else batch.add(event)
      onEvent(event)
    }
    await batch.send()
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
  const current = await currentUnlessTaken(target, [event])
  if (current === undefined || current >= event.revision) return
  for (let next = current + 1n; next < event.revision;) {
    const end = next + mostPlaceholders < event.revision ? next + mostPlaceholders : event.revision
    const [first, ...others] = range(next, end).map((revision) => placeholder(event.stream, revision))
    if (first && await currentUnlessTaken(target, [first, ...others]) !== undefined) throw moved(event)
    next = end
  }
  const left = await currentUnlessTaken(target, [event])
  if (left !== undefined && left < event.revision) throw moved(event)
}

const moved = ({ stream }: Recorded) => new NotTaken(`stream ${stream} of the target was written to meanwhile`)

function range (from: bigint, end: bigint): bigint[] {
  return Array.from({ length: Number(end - from) }, (_, index) => from + BigInt(index))
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

/** Consecutive events of one stream, to be sent as one append. */
class Batch {
  readonly #pipe: AppendPipe
  #events: Recorded[] = []
  #bytes = 0

  constructor (pipe: AppendPipe) {
    this.#pipe = pipe
  }

  fits (event: Recorded): boolean {
    const last = this.#events.at(-1)
    if (last === undefined) return true
    const follows = last.stream === event.stream && last.revision + 1n === event.revision
    return follows && this.#events.length < most.events && this.#bytes + sizeOf(event) <= most.bytes
  }

  add (event: Recorded): void {
    this.#events.push(event)
    this.#bytes += sizeOf(event)
  }

  async send (): Promise<void> {
    const [first, ...others] = this.#events
    this.#events = []
    this.#bytes = 0
    if (first) await this.#pipe.append([first, ...others])
  }
}
