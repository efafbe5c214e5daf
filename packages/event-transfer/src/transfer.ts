// Makes a target the same log as a source: compare, append what is missing, compare again until nothing is.
import { appendRest } from './append-rest.js'
import { compare, Matched, travelling, type Source } from './compare.js'
import type { Progress } from './progress.js'
import { OtherRevision } from './refused.js'
import type { Store } from './store.js'

export interface Transferred {
  /** In source and target, compared byte by byte. */
  events: number
  streams: number
  /** Over stream, revision, id, type, data and metadata of all of them, in order; hexadecimal. */
  sha256: string
  /** Of them, what the target lacked before. */
  appended: number
  /** Events of the target in streams that the source does not know; they were left alone. */
  others: number
  /** The last event that both have: its place in either log. */
  position: { source: bigint, target: bigint }
}

export interface TransferOptions {
  /** Most appends under way at once. */
  inFlight: number
  signal: AbortSignal
  onProgress (progress: Progress): void
}

/**
 * Appends what the target lacks. The target itself shows where to go on, so the next run completes one that was
 * stopped anywhere. Every event is compared after it was written, in the order of the whole log.
 * @throws TransferRefused when the target holds other events in these streams
 */
export async function transfer (source: Source, target: Store, { inFlight, signal, onProgress }: TransferOptions): Promise<Transferred> {
  const matched = new Matched()
  let before: number | undefined
  let stuckAt: bigint | undefined
  let refusal: OtherRevision | undefined
  for (let doing: Progress['doing'] = 'comparing'; ; doing = 'verifying') {
    const compared = counter(doing)
    const rest = await compare(source, target, matched, () => compared(matched.source))
    before ??= matched.tally.events
    if (!rest) return summary(before)
    if (matched.source === stuckAt) throw refusal ?? new Error(`the target acknowledged events after position ${matched.source} of the source and does not show them`)
    stuckAt = matched.source
    const sent = counter('appending')
    refusal = await appendRest(rest, target, matched.serverMade.copy(), inFlight, ({ position }) => sent(position)).then(() => undefined, onlyOtherRevision)
  }

  function counter (doing: Progress['doing']): (position: bigint) => void {
    let events = 0
    const tell = (position: bigint) => { onProgress({ doing, events, done: source.head === 0n ? 1 : Number(position) / Number(source.head) }) }
    tell(matched.source)
    return (position) => {
      signal.throwIfAborted()
      events++
      tell(position)
    }
  }

  function summary (before: number): Transferred {
    const { tally, others, source, target } = matched
    return { events: tally.events, streams: tally.streams, sha256: tally.sha256(), appended: tally.events - before, others, position: { source, target } }
  }
}

/** Another copy may have written it first; the next comparison finds out. */
function onlyOtherRevision (error: unknown): OtherRevision {
  if (error instanceof OtherRevision) return error
  throw error
}

/** The log of a store up to its present head. */
export async function logOf (store: Store): Promise<Source> {
  const head = await store.head()
  return { head, read: (after) => travelling(store.read(after, head)), knows: (event) => store.knows(event) }
}

/** Whether both are one and the same log, whatever their addresses. */
export async function isSameLog (one: Store, other: Store): Promise<boolean> {
  const [first, second] = await Promise.all([one.origin(), other.origin()])
  return first !== undefined && first === second && await one.head() === await other.head()
}
