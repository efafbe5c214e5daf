// What the API for operators works with.
import type { Action, OperationInput } from '../../projections/engine/operations.js'
import { lastUnaccounted } from '../../workers/operate/audit.js'
import { deliveryDay, queueStatus } from '../../workers/operate/stats.js'
import type { Services } from '../services/services.js'
import { atMostEvery } from '../timing.js'
import type { Day, Finding, Queue } from './answers.js'
import { commandDay } from './minute-counts.js'
import { projectionStatuses } from './projection-statuses.js'

/** The last 24 hours change slowly; operators who look at the same time share the other results. */
const dayEveryMs = 60_000
const lookEveryMs = 1_000
const checkEveryMs = 10_000

export type OpsServices = ReturnType<typeof opsServices>

/** The services of the process, and what else the routes need. */
export function opsServices (
  services: Services,
  /** @returns the id of the action; undefined while another one runs on that projection */
  startAction: (action: Action, projection: string, input: OperationInput) => Promise<string | undefined>,
  /** What the doctor finds. */
  checks: () => Promise<Finding[]>
) {
  const { pool } = services
  return {
    ...services,
    startAction,
    projections: atMostEvery(lookEveryMs, () => projectionStatuses(services)),
    queue: atMostEvery(lookEveryMs, async (): Promise<Queue> =>
      ({ ...await queueStatus(pool), unaccounted: await lastUnaccounted(pool) ?? null })),
    day: atMostEvery(dayEveryMs, async (): Promise<Day> => {
      const [{ hours, share }, commands] = await Promise.all([deliveryDay(pool), commandDay(pool)])
      return { attempts: hours, share, commands }
    }),
    checks: atMostEvery(checkEveryMs, checks)
  }
}
