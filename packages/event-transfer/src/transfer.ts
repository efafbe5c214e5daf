// Makes the target equal to the source: compares, appends what is missing, and compares again until nothing is.
import { setTimeout as delay } from 'node:timers/promises'
import { appendRest } from './append.js'
import { NotTaken, TransferRefused } from './failure.js'
import { isSame, isTombstone, Tally, type Recorded } from './recorded.js'
import { travelling, type Source } from './source.js'
import type { Knowledge, Store } from './store.js'

export interface Transferred {
  /** In both source and target, compared byte by byte. */
  events: number
  streams: number
  /** Hash over stream, revision, id, type, data and metadata of all events, in order; hexadecimal. */
  sha256: string
  /** Events that the target lacked before. */
  appended: number
  /** Events of the target in streams unknown to the source, which were left alone. */
  others: number
  /** Position of the last common event in either log. */
  position: { source: bigint, target: bigint }
}

export interface Progress {
  doing: 'comparing' | 'appending' | 'verifying' | 'exporting' | 'checking'
  /** Since this phase began. */
  events: number
  /** 0 to 1, by position in the log; absent when the end is unknown. */
  done?: number
}

export interface TransferOptions {
  /** Most appends in flight. */
  inFlight: number
  signal: AbortSignal
  onProgress (progress: Progress): void
}

/**
 * Appends what the target lacks. The target itself shows where to resume, so a repeated run completes one that was
 * stopped anywhere. Every event is compared after it was written, in the order of the whole log.
 * @throws TransferRefused when the target has other events in these streams
 */
export async function transfer (
  source: Source, target: Store, { inFlight, signal, onProgress }: TransferOptions
): Promise<Transferred> {
  const matched: Matched = { tally: new Tally(source.limits.beginOf), source: 0n, target: 0n, others: 0 }
  const untilNextTry = retrying(signal)
  let before: number | undefined
  for (let doing: Progress['doing'] = 'comparing'; ; doing = 'verifying') {
    const compared = counter(doing)
    const rest = await compare(source, target, matched, () => compared(matched.source))
    before ??= matched.tally.events
    if (!rest) {
      const { tally: { events, streams }, others, source, target } = matched
      const sha256 = matched.tally.sha256()
      return { events, streams, sha256, appended: events - before, others, position: { source, target } }
    }
    // Another copy may write the same events: the next comparison shows it.
    const options = { limits: source.limits, inFlight, onEvent: counter('appending') }
    const refusal = await appendRest(rest, target, options).catch((error: unknown) => {
      if (error instanceof NotTaken) return error
      throw error
    })
    if (doing === 'verifying' || refusal) await untilNextTry(matched.source, refusal)
  }

  /** Reports progress at once and for each event; `position` is in the source. */
  function counter (doing: Progress['doing']): (position: bigint) => void {
    let events = 0
    const tell = (position: bigint) => {
      onProgress({ doing, events, done: source.head === 0n ? 1 : Number(position) / Number(source.head) })
    }
    tell(matched.source)
    return (position) => {
      signal.throwIfAborted()
      events++
      tell(position)
    }
  }
}

/** Whether both are the same log, whatever their addresses. */
export async function isSameLog (one: Store, other: Store): Promise<boolean> {
  const [first, second] = await Promise.all([one.origin(), other.origin()])
  return first !== undefined && first === second && await one.head() === await other.head()
}

/** Progress of the comparison, which resumes from here. */
interface Matched {
  tally: Tally
  /** Positions of the last common event. */
  source: bigint
  target: bigint
  /** Events of the target in streams unknown to the source. */
  others: number
}

/**
 * Continues comparing from `matched`: every byte of every event, in log order.
 * @returns what the target lacks after `matched`, or undefined when it lacks nothing
 * @throws TransferRefused when the target has something else in a stream of the source, or in another order
 */
async function compare (
  source: Source, target: Store, matched: Matched, onEvent: () => void
): Promise<AsyncIterable<Recorded> | undefined> {
  const [ours, theirs] = [source.read(matched.source), travelling(target.read(matched.target))]
  try {
    let next = await theirs.next()
    for (let own = await ours.next(); !own.done; own = await ours.next()) {
      while (!next.done && !isSame(own.value, next.value)) {
        const knowledge = await knownOf(source, next.value)
        if (knowledge === 'same' || knowledge === 'other') throw notTheSame(next.value)
        if (knowledge === 'stream unknown') matched.others++ // not those that the source no longer has
        matched.target = next.value.position
        next = await theirs.next()
      }
      if (next.done) return startingWith(own.value, ours)
      matched.tally.add(own.value)
      Object.assign(matched, { source: own.value.position, target: next.value.position })
      onEvent()
      next = await theirs.next()
    }
    for (; !next.done; next = await theirs.next()) {
      const knowledge = await knownOf(source, next.value)
      if (knowledge === 'other') throw notTheSame(next.value)
      // 'same': the source has moved on, and another copier was faster.
      if (knowledge === 'stream unknown') matched.others++
    }
    return undefined
  } catch (error) {
    await Promise.all([ours.return(), theirs.return()])
    throw error
  }
}

/** A deleted stream looks unknown when queried, but the log's metadata still shows it. */
async function knownOf (source: Source, theirs: Recorded): Promise<Knowledge> {
  const knowledge = await source.knows(theirs)
  return knowledge === 'stream unknown' && source.limits.hides(theirs.stream) ? 'gone' : knowledge
}

async function * startingWith (first: Recorded, rest: AsyncIterable<Recorded>): AsyncGenerator<Recorded, void> {
  yield first
  yield * rest
}

function notTheSame (event: Recorded): TransferRefused {
  const { stream, revision, id } = event
  if (isTombstone(event)) {
    return new TransferRefused(`stream ${stream} is deleted for ever in the target, and is not in the source, ` +
      'or not at this place. Nothing was overwritten: choose an empty target')
  }
  return new TransferRefused(`stream ${stream} of the target holds another event at revision ${revision} ` +
    `than the source, or holds it in another order (its id is ${id}). ` +
    'Nothing was overwritten: choose an empty target')
}

/** A server answers within 2 s about an append that another copy has in flight, and soon shows what it took. */
const mostMs = 15_000
const shortestPauseMs = 100
const longestPauseMs = 1_000

/**
 * Waits before the next try with a target that refuses, or does not show, what was sent; `position` is up to where the
 * target equals the source.
 * @throws `refusal`, or an Error of its own, when the target has made no progress for too long
 */
function retrying (signal: AbortSignal) {
  let [at, since, pauseMs] = [-1n, 0, shortestPauseMs]
  return async (position: bigint, refusal: Error | undefined): Promise<void> => {
    if (position !== at) [at, since, pauseMs] = [position, performance.now(), shortestPauseMs]
    else if (performance.now() - since > mostMs) {
      throw refusal ??
        new Error(`the target acknowledged events after position ${position} of the source and does not show them`)
    }
    await delay(pauseMs, undefined, { signal }).catch(() => signal.throwIfAborted())
    pauseMs = Math.min(pauseMs * 2, longestPauseMs)
  }
}
