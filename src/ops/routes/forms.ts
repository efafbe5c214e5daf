// The forms of the pages: each does one thing, and leads to the page that shows what became of it.
import type { FastifyRequest, FastifyReply } from 'fastify'
import Type, { type TSchema } from 'typebox'
import { actions, projectionNamed, UnknownProjection } from '../../../projections/engine/operations.js'
import { ParkingRefused } from '../../../projections/engine/parked.js'
import { endInterruption } from '../../../workers/operate/resume.js'
import { redeliver } from '../../../workers/operate/redeliver.js'
import { inTransaction } from '../../postgres/transaction.js'
import type { App } from '../../http/app-types.js'
import type { OpsServices } from '../services.js'
import { assertOwnForm, operatorsOnly, Refused } from '../operator.js'
import { closeBreaker, retryParked, skipParked } from '../parked.js'
import { isProjection } from './projections.js'

/** That Postgres and the event store take: without NUL, in at most so many characters. */
export const storableText = (maxLength: number, minLength = 0) =>
  Type.String({ minLength, maxLength, pattern: '^[^\\u0000]*$' })

const Named = Type.Object({ name: Type.String() })
const ActionOn = Type.Object({ name: Type.String(), action: Type.Enum([...actions]) })
const WithId = Type.Object({ id: Type.String() })
const Form = Type.Object({ csrf: Type.Optional(Type.String()) })
const Parked = Type.Object({ ...Form.properties, stream: storableText(2_000, 1) })
const Skipped = Type.Object({
  ...Parked.properties,
  revision: Type.String({ pattern: '^[0-9]{1,18}$' }),
  reason: storableText(200, 1)
})

export function addForms (app: App, deps: OpsServices): void {
  addProjectionForms(app, deps)
  addDeliveryForms(app, deps)
}

const optionsOf = ({ sessionKey }: OpsServices) => ({
  onRequest: operatorsOnly(sessionKey),
  preHandler: async (request: FastifyRequest) => assertOwnForm(request)
})

function addProjectionForms (app: App, deps: OpsServices): void {
  const root = `${deps.basePath}/ops`
  const of = <Params extends TSchema, Body extends TSchema>(params: Params, body: Body) =>
    ({ schema: { hide: true, params, body }, ...optionsOf(deps) })
  const at = `${root}/projections/:name`
  const projection = (name: string) => `${root}/projections/${encodeURIComponent(name)}`

  app.post(`${at}/:action`, of(ActionOn, Form), async (request, reply) => {
    const { name, action } = request.params
    if (!isProjection(name)) throw new Refused(`There is no projection ${name}.`, 404)
    const id = await deps.startAction(action, name, {})
    if (id === undefined) throw new Refused(`Another action runs on ${name}: wait until it has ended.`)
    return await reply.redirect(`${root}/actions/${id}`, 303)
  })

  app.post(`${at}/retry`, of(Named, Parked), async (request, reply) => {
    const { params: { name }, body: { stream } } = request
    return await tell(reply, root, projection(name), await orRefused(() => retryParked(deps, name, stream)))
  })

  app.post(`${at}/skip`, of(Named, Skipped), async (request, reply) => {
    const { params: { name }, body: { stream, revision, reason } } = request
    return await tell(reply, root, projection(name), await orRefused(() =>
      skipParked(deps, name, stream, BigInt(revision), reason)))
  })

  app.post(`${at}/close-breaker`, of(Named, Form), async (request, reply) => {
    const { name } = request.params
    return await tell(reply, root, projection(name), await orRefused(() => closeBreaker(deps, projectionNamed(name))))
  })
}

function addDeliveryForms (app: App, deps: OpsServices): void {
  const root = `${deps.basePath}/ops`
  const options = { schema: { hide: true, params: WithId, body: Form }, ...optionsOf(deps) }

  app.post(`${root}/deliveries/:id/redeliver`, options, async (request, reply) => {
    const { id } = request.params
    const result = await redeliver(deps.pool, id)
    if (result.kind === 'not-found') throw new Refused('There is no such delivery.', 404)
    if (result.kind === 'refused') throw new Refused(`It cannot be sent again: ${result.why}.`)
    return await tell(reply, root, `${root}/deliveries/${id}`, 'It is sent again, as soon as a worker has a slot for it.')
  })

  app.post(`${root}/endpoints/:id/resume`, options, async (request, reply) => {
    const { id } = request.params
    const held = /^\d{1,18}$/.test(id) ? await inTransaction(deps.pool, (tx) => endInterruption(tx, id)) : undefined
    if (held === undefined) throw new Refused('Nothing interrupts this endpoint any more.')
    return await tell(reply, root, `${root}/endpoints`, `It is sent to again; ${held} deliveries were held.`)
  })
}

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

/** What became of a form, told once on the page that is shown after it. */
const noticeCookie = 'ringledger_ops_notice'
const keptSeconds = 60
/** Browsers keep 4 KiB of a cookie. */
const longest = 1_000

/** A page after a form, so that to load it again sends nothing again. */
async function tell (reply: FastifyReply, root: string, to: string, notice: string): Promise<FastifyReply> {
  const value = notice.slice(0, longest).toWellFormed()
  reply.setCookie(noticeCookie, value, { path: root, httpOnly: true, sameSite: 'strict', maxAge: keptSeconds })
  return await reply.redirect(to, 303)
}

export function noticeOf (request: FastifyRequest, reply: FastifyReply, root: string): string | undefined {
  const notice = request.cookies[noticeCookie]
  if (notice !== undefined) reply.clearCookie(noticeCookie, { path: root })
  return notice
}
