// Projections as operators see them: how far each is, what can be done to it, what was done, and what is parked.
import Type from 'typebox'
import { findAction, newestActions } from '../../projections/engine/actions.js'
import { actions, projectionNamed, UnknownProjection, whyNot, type Action } from '../../projections/engine/operations.js'
import { ownedGenerations } from '../../projections/engine/overview.js'
import { dispatcher, ParkingRefused, parkedStreams } from '../../projections/engine/parked.js'
import { projections } from '../../projections/index.js'
import { inWords, isUuid, withoutNul } from '../domain/json.js'
import { Rejection } from '../domain/rejection.js'
import type { App } from '../http/app-types.js'
import { answered, example, One, refusal } from '../http/docs/describe.js'
import { action, ActionReport as Report, All, Done, forOperators, parked, ParkedStream, projection, ProjectionStatus } from './answers.js'
import { closeBreaker, retryParked, skipParked } from './parked.js'
import type { OpsServices } from './services.js'

const mostActions = 50
const mostParked = 200

const name = Type.String({ title: 'ProjectionName', description: 'The projection.', examples: [projection.name] })
const ActionOn = Type.Object({
  name,
  action: Type.String({ title: 'ActionPath', description: `One of ${actions.join(', ')}.`, examples: ['verify'] })
})
const Input = Type.Object({
  accept_differences: Type.Optional(Type.Boolean({
    description: 'A replay swaps although its rows differ from those that readers see.'
  })),
  generation: Type.Optional(Type.Integer({
    minimum: 1, maximum: 999_999_999, description: 'A drop removes only this generation. Without it, a drop removes all retained ones.'
  }))
}, { title: 'ProjectionActionInput' })
const Begun = Type.Object({ id: Type.String({ description: 'Id of the action.' }) }, { title: 'BegunAction' })

const noAction = 'There is no such action.'
const isBusy = (given: string) => `Another action runs on ${given}: wait until it has ended.`

export function addProjections (app: App, deps: OpsServices): void {
  app.get('/ops/api/projections', forOperators('listProjections', 'List the projections',
    'With their generations, how far they are behind the log, and what can be done to each now. The dispatcher is last.', {
      response: { 200: answered('All of them.', All(ProjectionStatus), { data: [projection] }) }
    }), async () => ({ data: await deps.projections() }))

  app.post('/ops/api/projections/:name/:action', {
    config: { isBodyOptional: true },
    ...forOperators('actOnProjection', 'Replay, verify, roll back, drop, pause or resume a projection',
      'A process of its own does it, and stops with the service. Asked again, a replay goes on where it stood.', {
        params: ActionOn,
        body: example(Input, { accept_differences: false }),
        response: {
          202: answered('It is begun: GET /ops/api/actions/{id} tells how it gets on.', One(Begun), { data: { id: action.id } }),
          404: refusal('There is no projection nothing.'),
          409: refusal(isBusy(projection.name))
        }
      })
  }, async ({ params: { name, action }, body }, reply) => {
    const projection = projections.find((known) => known.name === name)
    if (!projection) throw new Rejection('not-found', `There is no projection ${name}.`)
    if (!isAction(action)) throw new Rejection('not-found', `There is no action ${action}: choose one of ${actions.join(', ')}.`)
    const { accept_differences: acceptDifferences, generation } = body
    const isNamed = action === 'drop' && generation !== undefined // `whyNot` is about a drop of all retained ones
    if (!isNamed) {
      const reason = whyNot(action, projection, await ownedGenerations(projection, deps.pool))
      if (reason !== undefined) throw new Rejection('not-ready', reason)
    }
    const id = await deps.startAction(action, name, { acceptDifferences, generation })
    if (id === undefined) throw new Rejection('not-ready', isBusy(name))
    return await reply.code(202).send({ data: { id } })
  })

  app.post('/ops/api/projections/:name/close-breaker', forOperators('closeBreaker', 'Let a stopped projection go on',
    'For one that stands still because it refused too many streams within a minute. It parks what it refuses.', {
      params: Type.Object({ name }),
      response: {
        200: answered('It goes on.', Done, { message: 'leads goes on within seconds, and parks what it refuses.' }),
        404: refusal('There is no projection nothing.'),
        409: refusal('leads does not stand still: its circuit breaker is closed')
      }
    }), async ({ params: { name } }) => await told(() => closeBreaker(deps, projectionNamed(name))))

  addActions(app, deps)
  addParked(app, deps)
}

function addActions (app: App, { pool }: OpsServices): void {
  app.get('/ops/api/actions', forOperators('listProjectionActions', 'List what was done to projections', `The newest ${mostActions}, newest first.`, {
    response: { 200: answered('The newest.', All(Report), { data: [action] }) }
  }), async () => ({ data: await newestActions(pool, mostActions) }))

  app.get('/ops/api/actions/:id', forOperators('getProjectionAction', 'See how an action gets on', 'Those of the last 90 days.', {
    params: Type.Object({
      id: Type.String({ title: 'ActionIdPath', description: 'The action.', examples: [action.id] })
    }),
    response: { 200: answered('The action.', One(Report), { data: action }), 404: refusal(noAction) }
  }), async ({ params: { id } }) => {
    const found = isUuid(id) ? await findAction(pool, id) : undefined
    if (!found) throw new Rejection('not-found', noAction)
    return { data: found }
  })
}

const Stream = Type.String({ minLength: 1, maxLength: 2_000, ...withoutNul, description: 'Whose events are parked.' })
const RetryBody = Type.Object({
  projection: Type.String({ description: 'A projection, or `dispatcher`.' }), stream: Stream
}, { title: 'RetryParked' })
const SkipBody = Type.Object({
  ...RetryBody.properties,
  revision: Type.String({ pattern: '^[0-9]{1,18}$', description: 'Revision of the event.', ...inWords('must be a revision, such as 0') }),
  reason: Type.String({
    minLength: 1,
    maxLength: 200,
    pattern: '^\\s*[^\\s\\u0000][^\\u0000]*$',
    ...inWords('must not be blank, nor contain NUL characters'),
    description: 'Why it is given up, for those who come later.'
  })
}, { title: 'SkipParked' })
const staysParked = { 404: refusal('there is no projection nothing'), 409: refusal('leads has not parked lead-1') }

function addParked (app: App, deps: OpsServices): void {
  app.get('/ops/api/parked', forOperators('listParked', 'List the streams with parked events',
    `Streams of every generation and of the dispatcher, the longest parked first; ${mostParked} at most.`, {
      response: { 200: answered('All of them.', All(ParkedStream), { data: [parked] }) }
    }), async () => {
    const names = [...projections.map(({ name }) => name), dispatcher]
    return { data: await parkedStreams(deps.pool, names, mostParked) }
  })

  app.post('/ops/api/parked/retry', forOperators('retryParked', 'Project the parked events of a stream', 'All of them, or none.', {
    body: example(RetryBody, { projection: parked.projection, stream: parked.stream }),
    response: {
      200: answered('None is parked any more.', Done, {
        message: '1 events of lead-1 went into leads (generation 1); none of its events is parked any more.'
      }),
      ...staysParked
    }
  }), async ({ body: { projection, stream } }) => await told(() => retryParked(deps, projection, stream)))

  app.post('/ops/api/parked/skip', forOperators('skipParked', 'Give an event up for good', 'In rebuilds too. Its stream goes on without it.', {
    body: example(SkipBody, {
      projection: parked.projection, stream: parked.stream, revision: parked.revision, reason: 'Written by hand, and wrong.'
    }),
    response: {
      200: answered('It is given up.', Done, {
        message: 'leads skips lead-1@4 from now on, in rebuilds too. No event of the stream is parked any more.'
      }),
      ...staysParked
    }
  }), async ({ body: { projection, stream, revision, reason } }) =>
    await told(() => skipParked(deps, projection, stream, BigInt(revision), reason)))
}

const isAction = (text: string): text is Action => (actions as readonly string[]).includes(text)

/** Refuses in the words of the command line. @throws Rejection */
async function told (work: () => Promise<string>): Promise<{ message: string }> {
  try {
    return { message: await work() }
  } catch (error) {
    if (error instanceof ParkingRefused) throw new Rejection('not-ready', error.message)
    if (error instanceof UnknownProjection) throw new Rejection('not-found', error.message)
    throw error
  }
}
