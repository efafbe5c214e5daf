// What workers need: a database and a log of their own.
import { randomBytes, randomUUID } from 'node:crypto'
import { openLogGuard, type LogGuard, type LogGuardOptions } from '../../../src/recovery/log-guard.js'
import { noStream, EventLog } from '../../../src/log/event-log.js'
import type { WorkerDeps } from '../../../workers/start.js'
import { scratchEventStore } from '../back-ends/scratch-event-store.js'
import { proposed, type Told } from '../events/call-events.js'
import { keepingLog, scratchLedger } from '../postgres/ledger.js'
import type { Teardown } from '../teardown.js'

/** Log and database belong together; otherwise a worker would send nothing. */
export async function workerSite (t: Teardown, given: Partial<WorkerDeps> = {}) {
  const ledger = await scratchLedger(t)
  const { connection } = await scratchEventStore(t, { postgres: ledger.postgres })
  const streams = new EventLog(connection)
  const log = keepingLog()
  const deps: WorkerDeps = {
    ...ledger,
    streams,
    logGuard: keptGuard(t, { ...ledger, streams, log }),
    holder: randomUUID(),
    log,
    webhook: { schedule: [0, 100], timeoutMs: 2_000, allowHttp: true, allowCidrs: ['127.0.0.0/8'], retentionDays: 90 },
    keys: { current: randomBytes(32), previous: [] },
    version: '1.2.3',
    reconcileEveryMs: 200,
    ...given
  }
  return { deps, tell: (told: Told) => streams.append(told.stream, [proposed(told)], noStream) }
}

/** Compares periodically until the test ends, as a process does. */
export function keptGuard (t: Teardown, options: LogGuardOptions): LogGuard {
  const guard = openLogGuard(options)
  void guard.check().catch(() => {}) // an outage
  t.teardown(guard.keepChecking())
  return guard
}
