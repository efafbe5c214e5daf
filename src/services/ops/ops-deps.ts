// What the pages for operators work with: code of the projections and of the workers, loaded when it is called.
import { hkdfSync } from 'node:crypto'
import { projections } from '../../../projections/index.js'
import { findAction, newestActions } from '../../../projections/operate/actions.js'
import { projectionNamed, UnknownProjection } from '../../../projections/operate/projection-named.js'
import { ParkingRefused, parkedStreams } from '../../../projections/parking/parked-events.js'
import { Refused } from '../../ops/refused.js'
import type { DeliverySearch, OpsDeps } from '../../ops/deps.js'
import { atMostEvery } from '../../timing/at-most-every.js'
import { packageVersion } from '../../package-root.js'
import type { Services } from '../services.js'
import { commandDay } from '../../ops/counts/minute-counts.js'
import { closeBreaker, retryParked, skipParked } from './parked.js'
import { projectionStatuses } from './projection-statuses.js'
import type { Actions } from './start-action.js'

/** Operators who look at the same time share one look, in milliseconds. */
const lookEveryMs = 1_000
const dayEveryMs = 60_000

const mostActions = 10
const mostEndpoints = 200
const perPage = 50

export async function opsDeps (context: Services, actions: Actions): Promise<OpsDeps> {
  const { config, pool } = context
  const { deliveryDay } = await import('../../../workers/operate/charts.js')
  return {
    basePath: config.basePath,
    sessionKey: sessionKey(config.secrets.secretKey),
    ...ofProjections(context, actions),
    ...await ofDeliveries(context),
    day: atMostEvery(dayEveryMs, async () =>
      ({ deliveries: await deliveryDay(pool), commands: await commandDay(pool) }))
  }
}

function ofProjections (context: Services, actions: Actions) {
  const { pool } = context
  return {
    isProjection: (name: string) => projections.some((known) => known.name === name),
    projections: atMostEvery(lookEveryMs, () => projectionStatuses(context)),
    parked: (name: string) => parkedStreams(pool, [name]),
    retryParked: (name: string, stream: string) => orRefused(() => retryParked(context, name, stream)),
    skipParked: (name: string, stream: string, revision: bigint, reason: string) =>
      orRefused(() => skipParked(context, name, stream, revision, reason)),
    closeBreaker: (name: string) => orRefused(() => closeBreaker(context, projectionNamed(name))),
    startAction: actions.start,
    findAction: async (id: string) => /^[0-9a-f-]{36}$/.test(id) ? await findAction(pool, id) : undefined,
    newestActions: () => newestActions(pool, mostActions)
  } satisfies Partial<OpsDeps>
}

async function ofDeliveries ({ pool }: Services) {
  const [{ findDelivery, listDeliveries }, { findRequest }] = await Promise.all([
    import('../../../workers/deliveries/read/find-deliveries.js'),
    import('../../../workers/deliveries/read/find-request.js')
  ])
  const [{ queueStatus }, { lastUnaccounted }, endpoints, { redeliver }] = await Promise.all([
    import('../../../workers/operate/stats.js'),
    import('../../../workers/operate/audit.js'),
    import('../../../workers/operate/endpoints.js'),
    import('../../../workers/operate/redeliver.js')
  ])
  return {
    queue: atMostEvery(lookEveryMs, async () =>
      ({ ...await queueStatus(pool), unaccounted: await lastUnaccounted(pool) ?? null })),
    async findDeliveries ({ text, ...filter }: DeliverySearch, after: readonly string[]) {
      const one = text === undefined ? undefined : await findDelivery(pool, undefined, text)
      if (one) return { items: [one], next: null }
      return await listDeliveries(pool, { ...filter, callId: text }, { perPage, after })
    },
    async findDelivery (id: string) {
      const found = await findDelivery(pool, undefined, id)
      return found && { ...found, request: await findRequest(pool, id, packageVersion) }
    },
    redeliver: (id: string) => redeliver(pool, id),
    endpoints: () => endpoints.interruptedEndpoints(pool, mostEndpoints),
    resumeEndpoint: async (id: string) => /^\d{1,18}$/.test(id) ? await endpoints.resumeEndpoint(pool, id) : undefined
  } satisfies Partial<OpsDeps>
}

const sessionKey = (secretKey: string) =>
  new Uint8Array(hkdfSync('sha256', secretKey, '', 'ringledger ops session', 32))

/** What cannot be done is told to the operator as it is told on the command line. */
async function orRefused (work: () => Promise<string>): Promise<string> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof ParkingRefused) throw new Refused(error.message)
    if (error instanceof UnknownProjection) throw new Refused(error.message, 404)
    throw error
  }
}
