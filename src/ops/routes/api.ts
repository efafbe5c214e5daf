// What the pages can do to projections, for programs.
import Type from 'typebox'
import { findAction, type ActionReport } from '../../../projections/engine/actions.js'
import { projections } from '../../../projections/index.js'
import type { App } from '../../http/app-types.js'
import type { OpsServices } from '../services.js'
import { assertOwnForm, operatorsOnly, Refused } from '../operator.js'

export const Action = Type.Enum(['replay', 'pause', 'resume', 'verify', 'rollback', 'drop'])

const ActionOn = Type.Object({ name: Type.String(), action: Type.String() })
const WithId = Type.Object({ id: Type.String() })
const Input = Type.Object({
  accept_differences: Type.Optional(Type.Boolean()),
  generation: Type.Optional(Type.Integer({ minimum: 1, maximum: 999_999_999 }))
})

/** Routes at `/ops/api`. With a token of the role ops, or the cookie and, to change something, `x-csrf-token`. */
export function addOpsApi (app: App, deps: OpsServices): void {
  const root = `${deps.basePath}/ops/api`
  const onRequest = operatorsOnly(deps.sessionKey)
  app.get(`${root}/projections`, { schema: { hide: true }, onRequest }, async () => ({ data: await deps.projections() }))

  app.get(`${root}/actions/:id`, { schema: { hide: true, params: WithId }, onRequest }, async ({ params }) => {
    const action = await actionOf(deps, params.id)
    if (!action) throw new Refused('There is no such action.', 404)
    return { data: action }
  })

  app.post(`${root}/projections/:name/:action`, {
    schema: { hide: true, params: ActionOn, body: Input }, onRequest, config: { isBodyOptional: true }
  }, async (request, reply) => {
    assertOwnForm(request)
    const { params: { name, action }, body } = request
    if (!isProjection(name)) throw new Refused(`There is no projection ${name}.`, 404)
    if (!isAction(action)) throw new Refused(`There is no action ${action}: choose one of ${Action.enum.join(', ')}.`, 404)
    const { accept_differences: acceptDifferences, generation } = body
    const id = await deps.startAction(action, name, { acceptDifferences, generation })
    if (id === undefined) throw new Refused(`Another action runs on ${name}: wait until it has ended.`)
    return await reply.code(202).send({ data: { id } })
  })
}

const isAction = (text: string): text is typeof Action.enum[number] => (Action.enum as readonly string[]).includes(text)

export const isProjection = (name: string) => projections.some((known) => known.name === name)

export async function actionOf ({ pool }: OpsServices, id: string): Promise<ActionReport | undefined> {
  return /^[0-9a-f-]{36}$/.test(id) ? await findAction(pool, id) : undefined
}
