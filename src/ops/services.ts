// What the pages for operators and their API work with.
import { hkdfSync } from 'node:crypto'
import type { Action, OperationInput } from '../../projections/engine/operations.js'
import { lastUnaccounted } from '../../workers/operate/audit.js'
import { deliveryDay, queueStatus } from '../../workers/operate/stats.js'
import type { Services } from '../services/services.js'
import { atMostEvery } from '../timing.js'
import { commandDay } from './minute-counts.js'
import { projectionStatuses } from './projection-statuses.js'

export interface QueueStatus extends Awaited<ReturnType<typeof queueStatus>> {
  /** Calls without a row in the delivery log; null before the first count. */
  unaccounted: number | null
}

/** The last 24 hours. */
export interface Day {
  deliveries: {
    hours: { hour: string, attempts: Record<string, number>, latency: { p50: number, p99: number } | null }[]
    share: number
  }
  /** By ten minutes. */
  commands: { at: string, accepted: number, refused: number, failed: number }[]
}

/** The last 24 hours change slowly; other looks are shared by operators who look at the same time. */
const dayEveryMs = 60_000
const lookEveryMs = 1_000

export type OpsServices = ReturnType<typeof opsServices>

/** The services of the process, and what pages need besides. */
export function opsServices (
  services: Services,
  /** @returns the id of the action; nothing while another one runs on that projection */
  startAction: (action: Action, projection: string, input: OperationInput) => Promise<string | undefined>
) {
  const { pool, config: { basePath, secrets: { secretKey } } } = services
  return {
    ...services,
    basePath,
    startAction,
    /** The key of the sessions, 32 bytes; the same in every process of the deployment. */
    sessionKey: new Uint8Array(hkdfSync('sha256', secretKey, '', 'ringledger ops session', 32)),
    projections: atMostEvery(lookEveryMs, () => projectionStatuses(services)),
    queue: atMostEvery(lookEveryMs, async (): Promise<QueueStatus> =>
      ({ ...await queueStatus(pool), unaccounted: await lastUnaccounted(pool) ?? null })),
    day: atMostEvery(dayEveryMs, async (): Promise<Day> =>
      ({ deliveries: await deliveryDay(pool), commands: await commandDay(pool) }))
  }
}
