// Erasures of persons, wired for workers.
import type { BackgroundKind } from '../../../workers/background/kind.js'
import { holdToLeadDigestKey, phoneHash } from '../../command-handling/phone-hash.js'
import { keyBytes } from '../complete-config.js'
import { erasureWork } from '../persons/erasures.js'
import { lateCallWork } from '../persons/late-calls.js'
import type { ProcessContext } from '../process-context.js'

export async function erasuresOf ({ config, connections, log }: ProcessContext): Promise<BackgroundKind> {
  const { erasures } = await import('../../../workers/persons/erasures/erasures.js')
  const digest = phoneHash(keyBytes(config.secrets.leadDigestKey))
  await holdToLeadDigestKey(connections.streams, digest)
  return erasures(erasureWork({ config, connections, digest, log }))
}

/** Calls that are reported of whoever was erased before. */
export async function lateCallsOf ({ connections }: ProcessContext): Promise<BackgroundKind> {
  const { lateCalls } = await import('../../../workers/persons/erasures/late-calls.js')
  return lateCalls(lateCallWork(connections))
}
