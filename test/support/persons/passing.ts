// Works on an erasure as a worker does, and says whatever it does to the outside, before and after.
import { randomUUID } from 'node:crypto'
import { erasureWork } from '../../../src/services/persons/erasures.js'
import type { CompleteConfig } from '../../../src/services/complete-config.js'
import type { Connections } from '../../../src/services/connections.js'
import { pause } from '../../../src/timing/pause.js'
import type { BackgroundKind } from '../../../workers/background/kind.js'
import type { SealedRow } from '../../../src/privacy/sealed-text.js'
import { progressOf } from '../../../workers/background/requests.js'
import { giveTurn, type TurnOptions } from '../../../workers/background/turns.js'
import { erasures } from '../../../workers/persons/erasures/erasures.js'
import type { ErasureProgress } from '../../../workers/persons/erasures/progress.js'
import { erasureKind } from '../../../workers/persons/erasures/request.js'

export interface PassingOptions {
  config: CompleteConfig
  connections: Pick<Connections, 'pool' | 'streams' | 'positions' | 'personKeys'>
  log: TurnOptions['log']
  /** What it does waits for this. */
  pass (at: string): Promise<void> | void
  withinMs?: number
}

/** Until the request has ended, and nothing of its row is left to do. @throws Error when it is not in time */
export async function workOn (options: PassingOptions, id: string): Promise<void> {
  const { connections: { pool }, log, withinMs = 300_000 } = options
  const signal = AbortSignal.timeout(withinMs)
  const kinds = { [erasureKind]: kindOf(options) }
  const turns = { pool, kinds, holder: `test ${randomUUID()}`, turnMs: 60_000, retryMs: 50, signal, log }
  while (await progressOf(pool, id)) {
    if (signal.aborted) throw new Error(`the erasure ${id} is stuck`)
    await giveTurn(turns, id)
    await pause(50, signal)
  }
}

function kindOf ({ config, connections, log, pass }: PassingOptions): BackgroundKind<SealedRow, ErasureProgress> {
  const around = <Given extends unknown[], Answer> (name: string, work: (...given: Given) => Promise<Answer>) =>
    async (...given: Given): Promise<Answer> => {
      await pass(`before ${name}`)
      const answer = await work(...given)
      await pass(`after ${name}`)
      return answer
    }
  const { streams, personKeys } = connections
  const work = erasureWork({
    config,
    connections: {
      ...connections,
      streams: {
        ...streams,
        append: around('an append', streams.append),
        truncate: around('a truncation', streams.truncate),
        scavenge: around('the scavenge', streams.scavenge)
      },
      personKeys: Object.assign(Object.create(personKeys), {
        erase: around('the end of the key', (userId: string, phoneNumber: string) => personKeys.erase(userId, phoneNumber))
      })
    },
    log
  })
  const kind = erasures({ ...work, settleMs: 50 })
  return {
    ...kind,
    work: (request, turn) => kind.work(request, {
      ...turn,
      keep: (kept, write) => around(`what is kept, ${kept.round} ${kept.step}`, turn.keep)(kept, write)
    }),
    finish: around('its end', kind.finish)
  }
}
