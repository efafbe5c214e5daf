// Works on requests for persons' data in one process of many, until it is stopped.
import { endsWithin } from '../../src/postgres/ends-within.js'
import type { Services } from '../../src/services/services.js'
import { hasRows, runPeriodic } from '../periodic.js'
import { continueRequests } from './continue.js'
import { removeOldExports } from './parts.js'

/** For the export of a person who was called for years. */
const longestPassMs = 30 * 60_000
/** A part that is being read or written ends by then, or its connection is dead. */
const partWithinMs = 5_000

/** @returns what ends it: what is broken off is begun anew by another process, or by the next start */
export function startPersons (services: Services): () => Promise<void> {
  const { pool, consumerPool: leasePool, holder, log } = services
  const stopping = new AbortController()
  const running = runPeriodic([
    { name: 'old exports', everyMs: 60_000, run: () => removeOldExports(pool) },
    {
      name: 'persons',
      everyMs: 2_000,
      passWithinMs: longestPassMs,
      async run ({ signal }) {
        if (!await hasRows(leasePool, 'person_requests')) return
        return await continueRequests(services, signal) ? 'again' : undefined
      }
    }
  ], { pool: leasePool, name: 'persons', holder, signal: stopping.signal, log })
  return async () => {
    stopping.abort()
    await endsWithin(partWithinMs, running)
  }
}
