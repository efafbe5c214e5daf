// Knows whether the event store takes writes: it may answer reads and refuse every append, as without a leader.
import { randomUUID } from 'node:crypto'
import { AppendTooLarge, RevisionConflict, StreamGone } from './errors.js'
import { noStream, type Streams } from './streams.js'

export interface Writes {
  /** Streams whose appends are noticed. */
  streams: Streams
  /** @throws what an append is refused with */
  assertTaken (): Promise<void>
}

const probeStream = 'ringledger-write-probe'

/** No stream of ours comes so far: an append there is decided by the store, and writes nothing. */
const neverReached = 10n ** 12n

/** Appends through `streams` are watched: after one that failed, only one that is written proves that all is well. */
export function watchWrites (streams: Streams): Writes {
  let failure: unknown
  const append: Streams['append'] = async (...given) => {
    try {
      const appended = await streams.append(...given)
      failure = undefined
      return appended
    } catch (error) {
      if (!isAnswer(error)) failure = error
      throw error
    }
  }
  return {
    streams: { ...streams, append },
    async assertTaken () {
      const at = failure === undefined ? neverReached : (await streams.last(probeStream))?.revision ?? noStream
      const probe = { id: randomUUID(), type: 'WriteProbed', data: {}, metadata: {} }
      await append(probeStream, [probe], at).catch((error: unknown) => { if (!isAnswer(error)) throw error })
    }
  }
}

/** The store has decided about the append itself. */
const isAnswer = (error: unknown) =>
  [RevisionConflict, StreamGone, AppendTooLarge].some((decided) => error instanceof decided)
