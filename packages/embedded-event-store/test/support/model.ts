// What the store should answer, in a few lines of memory.
import { ANY, type EventData, NO_STREAM, STREAM_EXISTS, type AppendExpectedRevision } from '@eventstore/db-client'

interface Remembered { ids: string[], hiddenBefore: number }
/** An append that was answered with a revision. */
export interface Done {
  stream: string
  expected: AppendExpectedRevision
  batch: EventData[]
  answer: string
}

export class Model {
  readonly streams = new Map<string, Remembered>()
  readonly all: string[] = []

  at (stream: string): Remembered {
    const remembered = this.streams.get(stream) ?? { ids: [], hiddenBefore: 0 }
    this.streams.set(stream, remembered)
    return remembered
  }

  append (stream: string, expected: AppendExpectedRevision, ids: string[]): string {
    const remembered = this.at(stream)
    const last = remembered.ids.length - 1
    const isDeleted = remembered.hiddenBefore === Infinity
    if (expected === STREAM_EXISTS && isDeleted) return 'stream-deleted'
    if (!holds(expected, last, isDeleted)) return 'wrong-expected-version'
    if (isDeleted) remembered.hiddenBefore = last + 1
    remembered.ids.push(...ids)
    this.all.push(...ids)
    return `${last + ids.length}`
  }

  /** The last event of a stream stays, as its revisions go on from it. */
  scavenge (): void {
    const gone = new Set([...this.streams.values()].flatMap(({ ids, hiddenBefore }) =>
      ids.slice(0, Math.min(hiddenBefore, ids.length - 1))))
    this.all.splice(0, Infinity, ...this.all.filter((id) => !gone.has(id)))
  }

  visible (stream: string): string[] | 'stream-not-found' {
    const { ids, hiddenBefore } = this.at(stream)
    return ids.length === 0 || hiddenBefore === Infinity ? 'stream-not-found' : ids.slice(hiddenBefore)
  }
}

function holds (expected: AppendExpectedRevision, last: number, isDeleted: boolean): boolean {
  switch (expected) {
    case ANY: return true
    case STREAM_EXISTS: return last >= 0
    case NO_STREAM: return last < 0 || isDeleted
    default: return expected === BigInt(last)
  }
}

/**
 * What the same append answers later. An append that re-created a stream is not recognised by NO_STREAM: other events
 * come first.
 */
export function repeated (model: Model, { stream, expected, batch, answer }: Done): string {
  const isGone = model.at(stream).hiddenBefore === Infinity
  if (expected === STREAM_EXISTS && isGone) return 'stream-deleted'
  const recreated = expected === NO_STREAM && answer !== `${batch.length - 1}`
  return recreated ? model.append(stream, expected, batch.map(({ id }) => id)) : answer
}
