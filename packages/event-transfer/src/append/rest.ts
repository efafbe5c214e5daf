// Sends the target what it lacks: consecutive events of a stream in one append, many appends under way, in log order.
import { type AppendPipe, sizeOf } from './pipe.js'
import { isTombstone, type Recorded } from '../recorded.js'
import type { Limits } from '../limited.js'
import { mayBeServerMade } from '../server-made.js'
import { appendBehindGap } from './gaps.js'
import type { Store } from '../store.js'

/** What every EventStoreDB takes in one append, and so no append of theirs is cut in two. */
const most = { bytes: 1024 * 1024, events: 10_000 }

export interface AppendOptions {
  /** Which streams may lack events: theirs are sent one by one where the one before was not sent. */
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
  const sent = new Map<string, bigint>()
  const isBehindGap = (event: Recorded) => limits?.isLimited(event.stream) === true &&
    (mayBeServerMade(event) || event.revision !== (sent.get(event.stream) ?? -1n) + 1n)
  try {
    for await (const event of rest) {
      const isAlone = isTombstone(event) || isBehindGap(event)
      if (isAlone || !batch.fits(event)) await batch.send()
      if (isAlone) await pipe.drain()
      if (isTombstone(event)) await target.tombstone(event.stream)
      else if (isAlone) await appendBehindGap(target, event)
      else batch.add(event)
      if (limits?.isLimited(event.stream)) sent.set(event.stream, event.revision)
      onEvent(event)
    }
    await batch.send()
    await pipe.drain()
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
