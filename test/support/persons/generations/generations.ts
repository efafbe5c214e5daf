// Replays and rollbacks of read models that have rows of persons, as a process of its own makes them: it has no key in
// memory, and no events.
import { randomUUID } from 'node:crypto'
import { calls } from '../../../../projections/calls.js'
import type { Projection } from '../../../../projections/engine/projection.js'
import { ReplayRefused } from '../../../../projections/generations/refused.js'
import { leads } from '../../../../projections/leads.js'
import type { BuildOptions } from '../../../../projections/replay/build.js'
import { replay } from '../../../../projections/replay/replay.js'
import { rollback } from '../../../../projections/replay/rollback.js'
import { openSealing } from '../../../../src/services/connections.js'
import { EventLog } from '../../../../src/log/event-log.js'
import { connectionTo } from '../../back-ends/scratch-event-store.js'
import { keepingLog } from '../../postgres/ledger.js'
import type { TestService } from '../../service.js'
import type { Teardown } from '../../teardown.js'

export function generationsOf (t: Teardown, { config, parts, urls }: TestService) {
  const raw = new EventLog(connectionTo(t, urls.eventStoreUrl))
  /** @returns why it was refused, if so */
  const both = (work: (projection: Projection, options: BuildOptions) => Promise<unknown>) => async () => {
    const { streams, personKeys } = openSealing(raw, parts.pool, config)
    const { pool, consumerPool } = parts
    const holder = `test ${randomUUID()}`
    const options = { pool, consumerPool, streams, holder, signal: new AbortController().signal, log: keepingLog() }
    const refused = await Promise.all([leads, calls].map((projection) => work(projection, options)
      .then(() => [], (error: unknown) => {
        if (!(error instanceof ReplayRefused)) throw error
        return [error.message]
      })))
    personKeys.close()
    return refused.flat()
  }
  return {
    /** Swapped in also where rows differ from those that readers see. */
    replayed: both((projection, options) => replay(projection, { ...options, acceptDifferences: true })),
    rolledBack: both(rollback)
  }
}
