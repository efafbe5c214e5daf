// Erasures of persons, wired for workers.
import type { BackgroundKind } from '../../../workers/background/kind.js'
import { holdToLeadDigestKey } from '../../commands/phone-hash.js'
import { digestOfNumbers } from '../digest-of-numbers.js'
import { erasureWork } from '../persons/erasures.js'
import { lateCallWork } from '../persons/late-calls.js'
import type { Services } from '../services.js'

export async function erasuresOf ({ config, connections, log }: Services): Promise<BackgroundKind> {
  const { erasures } = await import('../../../workers/persons/erasures/erasures.js')
  await holdToLeadDigestKey(connections.streams, digestOfNumbers(config))
  return erasures(erasureWork({ config, connections, log }))
}

/** Calls of persons who were erased before the report came. */
export async function lateCallsOf ({ connections }: Services): Promise<BackgroundKind> {
  const { lateCalls } = await import('../../../workers/persons/erasures/late-calls.js')
  return lateCalls(lateCallWork(connections))
}
