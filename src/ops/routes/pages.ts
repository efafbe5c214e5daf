// The pages that show something.
import Type, { type Static } from 'typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { newestActions } from '../../../projections/engine/actions.js'
import { parkedStreams } from '../../../projections/engine/parked.js'
import { findDelivery, findRequest, listDeliveries } from '../../../workers/deliveries/read.js'
import { troubledWebhooks } from '../../../workers/deliveries/webhooks.js'
import type { DeliverySummary } from '../../features/webhooks/model.js'
import type { App } from '../../http/app-types.js'
import { cursorOf, keysIn, type KeyKind } from '../../http/lists.js'
import { packageVersion } from '../../package-root.js'
import { sendPage, page, type Frame } from '../pages/layout.js'
import type { OpsServices } from '../services.js'
import { operatorsOnly, Refused } from '../operator.js'
import { deliveriesPage, deliveryPage, endpointsPage } from '../pages/deliveries.js'
import { actionPage } from '../pages/other.js'
import { overview } from '../pages/overview.js'
import { projectionPage } from '../pages/projection.js'
import { storableText, noticeOf } from './forms.js'
import { actionOf } from './projections.js'

const mostActions = 10
const mostEndpoints = 200
const perPage = 50
const liveSeconds = { overview: 5, running: 1 }

const Named = Type.Object({ name: Type.String() })
const WithId = Type.Object({ id: Type.String() })
const Search = Type.Object({
  q: Type.Optional(storableText(128)),
  user: Type.Optional(storableText(128)),
  assistant: Type.Optional(Type.String({ pattern: '^([0-9]{1,15})?$' })),
  status: Type.Optional(Type.Enum(['', 'scheduled', 'delivered', 'held', 'exhausted', 'cancelled', 'skipped'])),
  after: Type.Optional(Type.String({ maxLength: 512 }))
})
const cursorKeys: KeyKind[] = ['time', 'uuid']

export function addPages (app: App, deps: OpsServices): void {
  addOverview(app, deps)
  addDeliveries(app, deps)
}

/** Where the pages are, and who sees them. */
const placed = ({ basePath, sessionKey }: OpsServices) => ({ root: `${basePath}/ops`, onRequest: operatorsOnly(sessionKey) })

function addOverview (app: App, deps: OpsServices): void {
  const { root, onRequest } = placed(deps)
  const place = 'overview'

  app.get(root, { schema: { hide: true }, onRequest }, async (request, reply) => {
    const [projections, queue, day, actions] = await Promise.all([
      deps.projections(), deps.queue(), deps.day().catch(() => undefined), newestActions(deps.pool, mostActions)
    ])
    const frame = { root, title: 'Overview', place, liveSeconds: liveSeconds.overview } as const
    return show(request, reply, frame, overview({ root, projections, queue, day, actions }))
  })

  app.get(`${root}/projections/:name`, { schema: { hide: true, params: Named }, onRequest }, async (request, reply) => {
    const { name } = request.params
    const projection = (await deps.projections()).find((each) => each.name === name)
    if (!projection) throw new Refused(`There is no projection ${name}.`, 404)
    const frame = { root, title: name, place, ...(projection.action && { liveSeconds: liveSeconds.running }) } as const
    const view = { root, csrf: csrfOf(request), projection, parked: await parkedStreams(deps.pool, [name]) }
    return show(request, reply, frame, projectionPage(view))
  })

  app.get(`${root}/actions/:id`, { schema: { hide: true, params: WithId }, onRequest }, async (request, reply) => {
    const action = await actionOf(deps.pool, request.params.id)
    if (!action) throw new Refused('There is no such action.', 404)
    const title = `${action.action} of ${action.projection}`
    const frame = { root, title, place, ...(action.state === 'running' && { liveSeconds: liveSeconds.running }) } as const
    return show(request, reply, frame, actionPage(root, action))
  })
}

function addDeliveries (app: App, deps: OpsServices): void {
  const { root, onRequest } = placed(deps)

  app.get(`${root}/deliveries`, { schema: { hide: true, querystring: Search }, onRequest }, async (request, reply) => {
    const { after = '', ...search } = request.query
    const keys = after === '' ? [] : keysIn(after, 'ops', cursorKeys)
    if (!keys) throw new Refused('The page that is asked for is not one of ours: begin at the first.', 404)
    const { items, next } = await findDeliveries(deps, search, keys)
    const main = deliveriesPage({ root, search, items, next: next ? nextPage(root, search, next) : undefined })
    return show(request, reply, { root, title: 'Deliveries', place: 'deliveries' }, main)
  })

  app.get(`${root}/deliveries/:id`, { schema: { hide: true, params: WithId }, onRequest }, async (request, reply) => {
    const delivery = await findDelivery(deps.pool, undefined, request.params.id)
    if (!delivery) throw new Refused('There is no such delivery.', 404)
    const sent = await findRequest(deps.pool, delivery.id, packageVersion)
    const frame = { root, title: `Delivery ${delivery.id}`, place: 'deliveries' } as const
    return show(request, reply, frame, deliveryPage(root, csrfOf(request), { ...delivery, request: sent }))
  })

  app.get(`${root}/endpoints`, { schema: { hide: true }, onRequest }, async (request, reply) => {
    const main = endpointsPage(root, csrfOf(request), await troubledWebhooks(deps.pool, mostEndpoints))
    return show(request, reply, { root, title: 'Endpoints', place: 'endpoints' }, main)
  })
}

/** To somebody who sees it by a session, with what was to be told. */
const show = (request: FastifyRequest, reply: FastifyReply, frame: Frame, main: string) =>
  sendPage(reply, 200, page({ csrf: csrfOf(request), notice: noticeOf(request, reply, frame.root), ...frame }, main))

const csrfOf = ({ opsSession }: FastifyRequest) => opsSession?.csrf

type Asked = Omit<Static<typeof Search>, 'after'>

/** Newest first; `next` leads behind the last one. The text is the id of a delivery or of a call. */
async function findDeliveries (
  { pool }: OpsServices, { q, user, assistant, status }: Asked, after: readonly string[]
): Promise<{ items: DeliverySummary[], next: string[] | null }> {
  const callId = q?.trim() || undefined
  const one = callId === undefined ? undefined : await findDelivery(pool, undefined, callId)
  if (one) return { items: [one], next: null }
  const assistantId = assistant ? Number(assistant) : undefined
  const filter = { userId: user || undefined, assistantId, status: status || undefined, callId }
  return await listDeliveries(pool, filter, { perPage, after })
}

function nextPage (root: string, search: Asked, keys: readonly string[]): string {
  const given = Object.entries(search).flatMap(([name, value]): [string, string][] => value ? [[name, value]] : [])
  return `${root}/deliveries?${new URLSearchParams([...given, ['after', cursorOf('ops', keys)]])}`
}
