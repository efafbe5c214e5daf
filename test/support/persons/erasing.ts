// Erasures in the process of the test, so that something comes at a step of them, and not by chance.
import { randomUUID } from 'node:crypto'
import type { Connections } from '../../../src/services/connections.js'
import { seal } from '../../../src/privacy/sealed-text.js'
import type { Turn } from '../../../workers/work/kind.js'
import {
  erasures, type ErasureProgress, type ErasureWork, lateCalls, usersOfLateCalls
} from '../../../workers/persons/erasures.js'
import { eventually } from '../eventually.js'
import type { TestService } from '../service.js'

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
