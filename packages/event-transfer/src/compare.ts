// Walks through source and target in step: how far the target is the same log, and whether anything in it is not ours.
import { isSame, Tally } from './fingerprint.js'
import { isPlaceholder, limitsIn, type Limits } from './limited.js'
import { isOfServer, isTombstone, type Recorded } from './recorded.js'
import { TransferRefused } from './refused.js'
import type { Knowledge, Store } from './store.js'

/** Where events come from: the log of a store up to its head at the start, or an export. */
export interface Source {
  /** The place of the last event to take over. */
  head: bigint
  /** What travels, after a place and up to the head, in log order. */
  read (after: bigint): AsyncGenerator<Recorded, void>
  /** Which streams begin later. */
  limits?: Limits | undefined
  knows (event: Recorded): Promise<Knowledge>
}

/** How far source and target are the same; a comparison goes on from here. */
export class Matched {
  /** Of the last event that both have. */
  source = 0n
  target = 0n
  /** Events of the target in streams that the source does not know. */
  others = 0
  readonly tally: Tally

  constructor ({ limits }: Pick<Source, 'limits'>) {
    this.tally = new Tally(limits)
  }

  take (ours: Recorded, theirs: Recorded): void {
    this.tally.add(ours)
    this.source = ours.position
    this.target = theirs.position
  }

  /** @param knowledge of the source: what it has no more counts no further */
  leaveAlone (theirs: Recorded, knowledge: Knowledge): void {
    if (knowledge === 'stream unknown') this.others++
    this.target = theirs.position
  }
}

/**
 * Goes on comparing from where `matched` stands, every byte of every event, in the order of the log.
 * @returns what the target lacks, from the place where `matched` stands then, or undefined when it has all
 * @throws TransferRefused when the target holds something else in a stream of the source, or in another order
 */
export async function compare (
  source: Source, target: Store, matched: Matched, onEvent: () => void
): Promise<AsyncIterable<Recorded> | undefined> {
  const [ours, theirs] = [source.read(matched.source), travelling(target.read(matched.target))]
  try {
    let next = await theirs.next()
    for (let own = await ours.next(); !own.done; own = await ours.next()) {
      while (!next.done && !isSame(own.value, next.value)) {
        const knowledge = await knownOf(source, next.value)
        if (knowledge === 'same' || knowledge === 'other') throw notTheSame(next.value)
        matched.leaveAlone(next.value, knowledge)
        next = await theirs.next()
      }
      if (next.done) return startingWith(own.value, ours)
      matched.take(own.value, next.value)
      onEvent()
      next = await theirs.next()
    }
    for (; !next.done; next = await theirs.next()) {
      const knowledge = await knownOf(source, next.value)
      if (knowledge === 'other') throw notTheSame(next.value)
      // 'same': the source has moved on, and so has another copier.
      if (knowledge === 'stream unknown') matched.others++
    }
    return undefined
  } catch (error) {
    await Promise.all([ours.return(), theirs.return()])
    throw error
  }
}

/** A deleted stream has nothing that can be asked for; the log knows it all the same. */
async function knownOf (source: Source, theirs: Recorded): Promise<Knowledge> {
  const knowledge = await source.knows(theirs)
  const isHidden = knowledge === 'stream unknown' && source.limits?.hides(theirs.stream) === true
  return isHidden ? 'gone' : knowledge
}

async function * startingWith (first: Recorded, rest: AsyncIterable<Recorded>): AsyncGenerator<Recorded, void> {
  yield first
  yield * rest
}

export async function * travelling (events: AsyncIterable<Recorded>): AsyncGenerator<Recorded, void> {
  for await (const event of events) if (!isOfServer(event) && !isPlaceholder(event)) yield event
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

/** The same source without what a scavenge would remove. Its log is read for that. */
export async function withoutHidden (source: Source): Promise<Source> {
  const limits = await limitsIn(() => source.read(0n))
  async function * read (after: bigint): AsyncGenerator<Recorded, void> {
    for await (const event of source.read(after)) if (event.revision >= limits.beginOf(event.stream)) yield event
  }
  return { ...source, limits, read }
}
