// The tasks of the upkeep, and how often each is done.
import type { Pool } from 'pg'
import type { Streams } from '../../../src/log/event-log.js'
import { keepMonths } from '../../deliveries/attempts/months.js'
import { openPoster } from '../../deliver/post.js'
import { hasRows, type Periodic } from '../../periodic.js'
import { continueAudit } from '../audit.js'
import { sendAlerts } from './alerts.js'
import { probeSuspended } from './probe.js'
import { continueRecoveries } from './recoveries.js'

/** Where operators are told what users are told. */
export interface AlertHook {
  url: string
  /** `whsec_…` */
  secret: string
}

export interface TaskOptions {
  pool: Pool
  streams: Pick<Streams, 'read' | 'followStored' | 'head'>
  /** There is none unless operators want to be told. */
  alert?: AlertHook | undefined
  /** False in a restored database: what it has to tell may be told already. */
  maySend (): boolean
  /** How long attempts are kept. */
  retentionDays: number
  version: string
  signal: AbortSignal
  log: { warn (details: object, message: string): void }
}

/** As others look for work, so that they look in one statement. */
const soonMs = 2_000
const rarelyMs = 60_000
const hourlyMs = 3_600_000

/** What is done now and then for all users: recoveries, probes, alerts. */
export function openTasks (
  { alert, maySend, retentionDays, ...options }: TaskOptions
): { tasks: Periodic[], close (): Promise<void> } {
  const { pool, streams } = options
  const recover = async () => { if (await hasRows(pool, 'webhook_recoveries')) await continueRecoveries(pool, streams) }
  const tasks: Periodic[] = [
    { name: 'recoveries', everyMs: soonMs, run: recover },
    { name: 'months', everyMs: hourlyMs, run: () => keepMonths(pool, retentionDays) },
    { name: 'probes', everyMs: rarelyMs, run: () => probeSuspended(pool) },
    { name: 'identity', everyMs: rarelyMs, run: () => continueAudit(options) }
  ]
  if (!alert) return { tasks, close: async () => {} }
  const poster = openPoster({ allowCidrs: ['0.0.0.0/0', '::/0'] }) // operators may reach what is theirs
  const run = async () => { if (maySend()) await sendAlerts({ ...options, ...alert, poster }) }
  return { tasks: [...tasks, { name: 'alerts', everyMs: soonMs, run }], close: () => poster.close() }
}
