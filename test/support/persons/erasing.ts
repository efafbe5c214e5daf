// Erasures in the process of the test, so that something comes at a step of them, and not by chance.
import { randomUUID } from 'node:crypto'
import type { Connections } from '../../../src/services/connections.js'
import { seal, type SealedRow } from '../../../src/privacy/sealed-text.js'
import type { Turn, BackgroundKind } from '../../../workers/work/kind.js'
import {
  erasures, type ErasureProgress, type ErasureWork, lateCalls, usersOfLateCalls
} from '../../../workers/persons/erasures.js'
import { eventually } from '../eventually.js'
import type { TestService } from '../service.js'
import { pause } from '../../../src/timing.js'
import { progressOf } from '../../../workers/work/requests.js'
import { giveTurn, type TurnOptions } from '../../../workers/work/run.js'
import { erasureKind } from '../../../workers/persons/erasure-rows.js'

type Step = ErasureProgress['step']

/** What comes once, when the step is the next one, of whichever round; `waits`: whenever it waits, with what for. */
export type Meanwhile = Partial<Record<Step | `${number} ${Step}` | 'waits', (waitsFor?: string) => Promise<unknown>>>

/**
 * @param given what it does otherwise than a worker
 * @param settleMs waited for what is sealed under the key that ended: what comes after it is erased as well
 * @returns what erases a person of user 1, as another worker does, and ends when it is done
 */
export function erasing (
  { parts }: TestService, on: Partial<Connections> = {}, settleMs = 50, given: Partial<ErasureWork> = {}
) {
  const kind = erasures({ ...parts, ...on, log: { warn () {} }, settleMs, ...given })
  return async (phoneNumber: string, meanwhile: Meanwhile = {}): Promise<void> => {
    let progress: Partial<ErasureProgress> = {}
    const left = new Map(Object.entries(meanwhile))
    const failures: unknown[] = []
    // The erasure would take a failure of the test for one of its own, and try again.
    const run = async (next?: Meanwhile['waits']) => {
      await next?.(progress.waits_for).catch((error: unknown) => failures.push(error))
    }
    const come = async (at: string) => {
      const next = left.get(at)
      left.delete(at)
      await run(next)
    }
    const turn: Turn<ErasureProgress> = {
      signal: new AbortController().signal,
      isOver: () => false,
      async keep (kept) {
        progress = kept
        await come(kept.step)
        await come(`${kept.round} ${kept.step}`)
      }
    }
    const input = seal(parts.keys, '1', phoneNumber)
    const request = { id: randomUUID(), kind: 'person-erasure', userId: '1', input, failures: 0, createdAt: new Date() }
    await eventually(async () => {
      const ended = await kind.work({ ...request, progress }, turn)
      const waits = ended === 'again' || ended.state === 'waiting'
      if (waits) {
        left.delete('waits')
        await run(meanwhile.waits)
      }
      return !waits
    }, 120_000)
    if (failures.length > 0) throw failures[0]
    if (left.size > 0) throw new Error(`it did not come to ${[...left.keys()].join()}`)
  }
}

/** Calls of persons who were erased before, as workers do it within ten seconds. */
export async function eraseLate ({ parts }: Pick<TestService, 'parts'>): Promise<void> {
  const turn = { signal: new AbortController().signal, isOver: () => false, async keep () {} }
  for (const userId of await usersOfLateCalls(parts)) {
    const request = { id: randomUUID(), kind: 'late', userId, input: {}, progress: {}, failures: 0, createdAt: new Date() }
    await eventually(async () => await lateCalls(parts).work(request, turn) !== 'again')
  }
}

export interface PassingOptions {
  connections: Pick<Connections, 'pool' | 'streams' | 'positions' | 'personKeys' | 'keys' | 'phoneHash'>
  log: TurnOptions['log']
  /** What it does waits for this. */
  pass (at: string): Promise<void> | void
  withinMs?: number
}

/** Until the request has ended, and nothing of its row is left to do. @throws Error when it is not in time */
export async function workOn (options: PassingOptions, id: string): Promise<void> {
  const { connections: { pool }, log, withinMs = 300_000 } = options
  const signal = AbortSignal.timeout(withinMs)
  const kinds = { [erasureKind]: passing(options) }
  const turns = { pool, kinds, holder: `test ${randomUUID()}`, turnMs: 60_000, retryMs: 50, signal, log }
  while (await progressOf(pool, id)) {
    if (signal.aborted) throw new Error(`the erasure ${id} is stuck`)
    await giveTurn(turns, id)
    await pause(50, signal)
  }
}

/** An erasure that lets `pass` in before and after all that it does to the outside. */
export function passing ({ connections, log, pass }: PassingOptions): BackgroundKind<SealedRow, ErasureProgress> {
  const around = <Given extends unknown[], Answer> (name: string, work: (...given: Given) => Promise<Answer>) =>
    async (...given: Given): Promise<Answer> => {
      await pass(`before ${name}`)
      const answer = await work(...given)
      await pass(`after ${name}`)
      return answer
    }
  const { streams, personKeys } = connections
  const kind = erasures({
    ...connections,
    streams: {
      ...streams,
      append: around('an append', streams.append),
      truncate: around('a truncation', streams.truncate),
      scavenge: around('the scavenge', streams.scavenge)
    },
    personKeys: Object.assign(Object.create(personKeys), {
      erase: around('the end of the key', (userId: string, phoneNumber: string) => personKeys.erase(userId, phoneNumber))
    }),
    log,
    settleMs: 50
  })
  return {
    ...kind,
    work: (request, turn) => kind.work(request, {
      ...turn,
      keep: (kept, write) => around(`what is kept, ${kept.round} ${kept.step}`, turn.keep)(kept, write)
    }),
    finish: around('its end', kind.finish ?? (async () => {}))
  }
}
