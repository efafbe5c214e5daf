// Whether ids may be given out, as far as the read models are concerned: their folding raises the sequences of ids.
import type { Services } from '../services.js'

const raising = ['assistants', 'leads', 'catalog', 'keys']

/** A probe waits no longer for positions that are being looked up, in milliseconds. */
const probeMs = 500

export interface CatchUp {
  /** Answers whether these read models have passed what the log held at the start; waits for it for a bounded time. */
  isDone (): Promise<boolean>
  /** The same, without waiting. */
  isDoneNow (): Promise<boolean>
  /** @throws while an API creates nothing, as they have not */
  assertDone (): Promise<void>
}

/** As of now. What was passed once stays passed, also where positions begin anew. @throws EventStoreUnavailable */
export async function catchUp (
  { config, connections: { streams, positions } }: Pick<Services, 'config' | 'connections'>
): Promise<CatchUp> {
  const head = await streams.head()
  let isDone = false
  return {
    isDone: () => within(config.readModelWaitMs),
    isDoneNow: () => within(0),
    async assertDone () {
      if (await within(probeMs)) return
      throw new Error('no id is given out, and so nothing created, before the read models have passed position ' +
        `${head}, where the log ended when this process started`)
    }
  }

  async function within (ms: number): Promise<boolean> {
    if (isDone) return true
    const reached = await Promise.all(raising.map((name) => positions.reached(name, head, ms)))
    isDone ||= reached.every(Boolean)
    return isDone
  }
}
