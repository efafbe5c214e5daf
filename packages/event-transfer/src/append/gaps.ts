// Appends an event whose earlier ones are not in the source: the target is asked what it has, and gets placeholders.
import { placeholder } from '../limited.js'
import type { Recorded } from '../recorded.js'
import { NotTaken } from '../refused.js'
import type { Store } from '../store.js'
import { AtOtherRevision, LacksEarlier } from './failure.js'

/** How many placeholders go in one append. */
const most = 5_000n

/**
 * Where the target has an event at this revision already, it is left to the comparison whether it is the same: a server
 * writes some metadata by itself.
 * @throws NotTaken, TransferRefused, or an Error when the target is gone
 */
export async function appendBehindGap (target: Store, event: Recorded): Promise<void> {
  const current = await currentUnlessTaken(target, [event])
  if (current === undefined || current >= event.revision) return
  for (let next = current + 1n; next < event.revision;) {
    const end = next + most < event.revision ? next + most : event.revision
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
