// Works on requests for persons' data in one process of many, until it is stopped.
import { endsWithin } from '../../src/postgres/ends-within.js'
import type { Services } from '../../src/services/services.js'
import { hasRows } from '../passes/has-rows.js'
import { repeatLeased } from '../passes/leased-loop.js'
import { continueRequests } from './continue.js'
import { removeOldExports } from './parts.js'

const sweepEveryMs = 60_000
/** For the export of a person who was called for years. */
const longestPassMs = 30 * 60_000
/** A part that is being read or written ends by then, or its connection is dead. */
const partWithinMs = 5_000

/** @returns what ends it: what is broken off is begun anew by another process, or by the next start */
export function startPersons (services: Services): () => Promise<void> {
  const { pool, consumerPool: leasePool, holder, log } = services
  const stopping = new AbortController()
  const onError = (err: unknown) => log.warn({ err }, 'requests for persons wait, they are tried again')
  let sweptAt = -Infinity
  const running = repeatLeased({
    name: 'persons', pool: leasePool, holder, passWithinMs: longestPassMs, everyMs: 2_000, onError, signal: stopping.signal
  }, async ({ signal }) => {
    if (performance.now() >= sweptAt + sweepEveryMs) {
      sweptAt = performance.now()
      await removeOldExports(pool)
    }
    if (!await hasRows(leasePool, 'person_requests')) return 'done'
    return await continueRequests(services, signal) ? 'again' : 'done'
  })
  return async () => {
    stopping.abort()
    await endsWithin(partWithinMs, running)
  }
}
