// Makes a target the same log as a source: compare, append what is missing, compare again until nothing is.
import { appendRest } from './append/rest.js'
import { compare, Matched, travelling, withoutHidden, type Source } from './compare.js'
import type { Progress } from './progress.js'
import { NotTaken } from './refused.js'
import { Standstill } from './standstill.js'
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
export async function transfer (source: Source, target: Store, options: TransferOptions): Promise<Transferred> {
  return await new Transfer(source, target, options).run()
}

class Transfer {
  readonly #source: Source
  readonly #target: Store
  readonly #options: TransferOptions
  readonly #matched: Matched

  constructor (source: Source, target: Store, options: TransferOptions) {
    this.#source = source
    this.#target = target
    this.#options = options
    this.#matched = new Matched(source)
  }

  async run (): Promise<Transferred> {
    const { signal } = this.#options
    const standstill = new Standstill(signal)
    let before: number | undefined
    for (let doing: Progress['doing'] = 'comparing'; ; doing = 'verifying') {
      const rest = await this.#compare(doing)
      before ??= this.#matched.tally.events
      if (!rest) return this.#summary(before)
      // Another copy may write the same; the next comparison finds out.
      const refusal = await this.#append(rest).then(() => undefined, onlyNotTaken)
      if (doing === 'verifying' || refusal) await standstill.wait(this.#matched.source, refusal)
    }
  }

  async #compare (doing: Progress['doing']) {
    const compared = this.#counter(doing)
    return await compare(this.#source, this.#target, this.#matched, () => compared(this.#matched.source))
  }

  async #append (rest: Parameters<typeof appendRest>[0]): Promise<void> {
    const sent = this.#counter('appending')
    await appendRest(rest, this.#target, {
      limits: this.#source.limits,
      inFlight: this.#options.inFlight,
      onEvent: ({ position }) => sent(position)
    })
  }

  /** Tells of the progress at once, and at each event; the position is its place in the source. */
  #counter (doing: Progress['doing']): (position: bigint) => void {
    const { signal, onProgress } = this.#options
    const { head } = this.#source
    let events = 0
    const tell = (position: bigint) => {
      onProgress({ doing, events, done: head === 0n ? 1 : Number(position) / Number(head) })
    }
    tell(this.#matched.source)
    return (position) => {
      signal.throwIfAborted()
      events++
      tell(position)
    }
  }

  #summary (before: number): Transferred {
    const { tally, others, source, target } = this.#matched
    const { events, streams } = tally
    return { events, streams, sha256: tally.sha256(), appended: events - before, others, position: { source, target } }
  }
}

function onlyNotTaken (error: unknown): NotTaken {
  if (error instanceof NotTaken) return error
  throw error
}

/** The log of a store up to its present head. */
export async function logOf (store: Store): Promise<Source> {
  const head = await store.head()
  const source = { head, read: (after: bigint) => travelling(store.read(after, head)) }
  return await withoutHidden({ ...source, knows: (event) => store.knows(event) })
}

/** Whether both are one and the same log, whatever their addresses. */
export async function isSameLog (one: Store, other: Store): Promise<boolean> {
  const [first, second] = await Promise.all([one.origin(), other.origin()])
  return first !== undefined && first === second && await one.head() === await other.head()
}
