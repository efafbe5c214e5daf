// Works on requests for persons' data in one process of many, until it is stopped.
import type { Pool } from 'pg'
import { hasRows } from '../passes/has-rows.js'
import { repeatLeased, type LoopOptions } from '../passes/leased-loop.js'
import { continueRequests, type PersonWork } from './continue.js'
import { removeOldExports } from './parts.js'

export interface RunOptions extends Pick<LoopOptions, 'holder' | 'signal'> {
  work: PersonWork
  /** Where all leases of the process are: they are renewed together, and one look tells all whether work waits. */
  leasePool?: Pool | undefined
}

const sweepEveryMs = 60_000
/** For the export of a person who was called for years. */
const longestPassMs = 30 * 60_000

export async function runPersons ({ work, leasePool = work.pool, ...options }: RunOptions): Promise<void> {
  const onError = (err: unknown) => work.log.warn({ err }, 'requests for persons wait, they are tried again')
  const loop = { ...options, pool: leasePool, name: 'persons', passWithinMs: longestPassMs, everyMs: 2_000, onError }
  let sweptAt = -Infinity
  await repeatLeased(loop, async ({ signal }) => {
    if (performance.now() >= sweptAt + sweepEveryMs) {
      sweptAt = performance.now()
      await removeOldExports(work.pool)
    }
    if (!await hasRows(leasePool, 'person_requests')) return 'done'
    return await continueRequests(work, signal) ? 'again' : 'done'
  })
}
