// The forms of the pages: each does one thing, and leads to the page that shows what became of it.
import type { FastifyRequest } from 'fastify'
import Type, { type TSchema } from 'typebox'
import type { App } from '../../http/app-types.js'
import type { OpsDeps } from '../deps.js'
import { assertOwnForm, operatorsOnly } from '../operator.js'
import { Refused } from '../refused.js'
import { storableText } from '../storable-text.js'
import { Action } from './api.js'
import { tell } from './notice.js'

const Named = Type.Object({ name: Type.String() })
const ActionOn = Type.Object({ name: Type.String(), action: Action })
const WithId = Type.Object({ id: Type.String() })
const Form = Type.Object({ csrf: Type.Optional(Type.String()) })
const Parked = Type.Object({ ...Form.properties, stream: storableText(2_000, 1) })
const Skipped = Type.Object({
  ...Parked.properties,
  revision: Type.String({ pattern: '^[0-9]{1,18}$' }),
  reason: storableText(200, 1)
})

export function addForms (app: App, deps: OpsDeps): void {
  addProjectionForms(app, deps)
  addDeliveryForms(app, deps)
}

const optionsOf = ({ sessionKey }: OpsDeps) => ({
  onRequest: operatorsOnly(sessionKey),
  preHandler: async (request: FastifyRequest) => assertOwnForm(request)
})

function addProjectionForms (app: App, deps: OpsDeps): void {
  const root = `${deps.basePath}/ops`
  const of = <Params extends TSchema, Body extends TSchema>(params: Params, body: Body) =>
    ({ schema: { hide: true, params, body }, ...optionsOf(deps) })
  const at = `${root}/projections/:name`
  const projection = (name: string) => `${root}/projections/${encodeURIComponent(name)}`

  app.post(`${at}/:action`, of(ActionOn, Form), async (request, reply) => {
    const { name, action } = request.params
    if (!deps.isProjection(name)) throw new Refused(`There is no projection ${name}.`, 404)
    const id = await deps.startAction(action, name, {})
    if (id === undefined) throw new Refused(`Another action runs on ${name}: wait until it has ended.`)
    return await reply.redirect(`${root}/actions/${id}`, 303)
  })

  app.post(`${at}/retry`, of(Named, Parked), async (request, reply) => {
    const { params: { name }, body: { stream } } = request
    return await tell(reply, root, projection(name), await deps.retryParked(name, stream))
  })

  app.post(`${at}/skip`, of(Named, Skipped), async (request, reply) => {
    const { params: { name }, body: { stream, revision, reason } } = request
    return await tell(reply, root, projection(name), await deps.skipParked(name, stream, BigInt(revision), reason))
  })

  app.post(`${at}/close-breaker`, of(Named, Form), async (request, reply) => {
    const { name } = request.params
    return await tell(reply, root, projection(name), await deps.closeBreaker(name))
  })
}

function addDeliveryForms (app: App, deps: OpsDeps): void {
  const root = `${deps.basePath}/ops`
  const options = { schema: { hide: true, params: WithId, body: Form }, ...optionsOf(deps) }

  app.post(`${root}/deliveries/:id/redeliver`, options, async (request, reply) => {
    const { id } = request.params
    const result = await deps.redeliver(id)
    if (result.kind === 'not-found') throw new Refused('There is no such delivery.', 404)
    if (result.kind === 'refused') throw new Refused(`It cannot be sent again: ${result.why}.`)
    return await tell(reply, root, `${root}/deliveries/${id}`, 'It is sent again, as soon as a worker has a slot for it.')
  })

  app.post(`${root}/endpoints/:id/resume`, options, async (request, reply) => {
    const held = await deps.resumeEndpoint(request.params.id)
    if (held === undefined) throw new Refused('Nothing interrupts this endpoint any more.')
    return await tell(reply, root, `${root}/endpoints`, `It is sent to again; ${held} deliveries were held.`)
  })
}
