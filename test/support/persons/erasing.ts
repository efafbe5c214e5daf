// Runs erasures in the test's process, so that a test can act at an exact step.
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

/** Called once, when the step comes next, in any round or a given one; `waits`: whenever it waits, with the reason. */
export type Meanwhile = Partial<Record<Step | `${number} ${Step}` | 'waits', (waitsFor?: string) => Promise<unknown>>>

/**
 * @param given where it differs from a worker
 * @param settleMs how long it waits for events sealed under the deleted key; it erases later ones as well
 * @returns a function that erases a person of user 1, like another worker, and resolves when that is done
 */
export function erasing (
  { parts }: TestService, on: Partial<Connections> = {}, settleMs = 50, given: Partial<ErasureWork> = {}
) {
  const kind = erasures({ ...parts, ...on, log: { warn () {} }, settleMs, ...given })
  return async (phoneNumber: string, meanwhile: Meanwhile = {}): Promise<void> => {
    let progress: Partial<ErasureProgress> = {}
    const left = new Map(Object.entries(meanwhile))
    const failures: unknown[] = []
    // Kept for the end: the erasure would take a failure of the test for its own, and retry.
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
    const request = { id: randomUUID(), kind: 'person-erasure', userId: '1', input, failures: 0 }
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

/** Erases late calls of erased persons at once; workers do it within ten seconds. */
export async function eraseLate ({ parts }: Pick<TestService, 'parts'>): Promise<void> {
  const turn = { signal: new AbortController().signal, isOver: () => false, async keep () {} }
  for (const userId of await usersOfLateCalls(parts)) {
    const request = { id: randomUUID(), kind: 'late', userId, input: {}, progress: {}, failures: 0 }
    await eventually(async () => {
      const ended = await lateCalls(parts).work(request, turn)
      return ended !== 'again' && ended.state === 'completed'
    })
  }
}
