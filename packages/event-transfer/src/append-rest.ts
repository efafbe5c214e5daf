// Sends the target what it lacks: consecutive events of one stream in one append, many appends under way, in log order.
import { sizeOf } from './append-pipe.js'
import { isTombstone, type Recorded } from './recorded.js'
import type { ServerMade } from './server-made.js'
import type { Store } from './store.js'

/** What every EventStoreDB takes in one append, and so no append of theirs is cut in two. */
const most = { bytes: 1024 * 1024, events: 10_000 }

/**
 * Appends `rest` to the target and returns when it is durable.
 * @param serverMade as it stands before the first of them; it is moved on
 * @param onEvent is told of every event that was sent
 * @throws OtherRevision when the target has moved, TransferRefused, or an Error when it is gone
 */
export async function appendRest (rest: AsyncIterable<Recorded>, target: Store, serverMade: ServerMade, inFlight: number, onEvent: (event: Recorded) => void): Promise<void> {
  const pipe = await target.openPipe(inFlight)
  let batch: Recorded[] = []
  let bytes = 0
  try {
    for await (const event of rest) {
      if (serverMade.includes(event) || serverMade.bringsBack(event) || !fits(event)) await flush()
      if (isTombstone(event)) await endStream(event)
      else if (!serverMade.includes(event)) batch.push(event)
      bytes = batch.length === 0 ? 0 : bytes + sizeOf(event)
      serverMade.pass(event)
      onEvent(event)
    }
    await flush()
    await pipe.drain()
  } finally {
    pipe.close()
  }

  function fits (event: Recorded): boolean {
    const last = batch.at(-1)
    return last === undefined || (last.stream === event.stream && last.revision + 1n === event.revision &&
      batch.length < most.events && bytes + sizeOf(event) <= most.bytes)
  }

  async function flush (): Promise<void> {
    const [first, ...others] = batch
    batch = []
    bytes = 0
    if (first) await pipe.append([first, ...others])
  }

  async function endStream ({ stream }: Recorded): Promise<void> {
    await pipe.drain()
    await target.tombstone(stream)
  }
}
