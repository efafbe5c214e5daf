// Webhooks of all users: deliveries, and those that fail or are suspended.
import Type from 'typebox'
import { findDelivery, findRequest, listDeliveries } from '../../workers/deliveries/read.js'
import { endInterruption, troubledWebhooks } from '../../workers/deliveries/webhooks.js'
import { redeliver } from '../../workers/operate/redeliver.js'
import { Id, UserId, withoutNul } from '../domain/json.js'
import { invalid, Rejection } from '../domain/rejection.js'
import { CallId } from '../features/calls/events.js'
import { DeliverySummary } from '../features/webhooks/model.js'
import { outcomes } from '../features/webhooks/outcome.js'
import { type App, assistantPath, deliveryPath } from '../http/app-types.js'
import { only } from '../http/auth.js'
import { answered, One, refusal } from '../http/docs/describe.js'
import { page } from '../http/docs/examples.js'
import { dateRange, earliest, latest, rangeErrors } from '../http/filters.js'
import { PageOf, Paging } from '../http/lists.js'
import { queryErrors, readErrors } from '../http/read-position.js'
import { packageVersion } from '../package-root.js'
import { inTransaction } from '../postgres/transaction.js'
import {
  All, deliveryOfUser, DeliveryOfUser, deliveryOfUserDetails, DeliveryOfUserDetails, Done, troubled, TroubledState,
  TroubledWebhook
} from './answers.js'
import type { OpsServices } from './services.js'

const tags = ['operators']
const security = [{ bearer: [] }]
const onRequest = only('ops')
const mostWebhooks = 200
const paging = new Paging('deliveries-of-all', 50, ['time', 'uuid'])

const deliveryNotFound = 'There is no such delivery.'
const notInterrupted = 'Nothing keeps this webhook from being sent to.'

const Filter = Type.Object({
  user_id: Type.Optional(UserId),
  assistant_id: Type.Optional(Id({ description: 'Only those of this assistant.' })),
  call_id: Type.Optional(Type.String({ ...CallId, description: 'Only that of this call.' })),
  url: Type.Optional(Type.String({
    minLength: 1, maxLength: 2_048, ...withoutNul, description: 'How the URL begins that its webhook goes to.'
  })),
  status: Type.Optional(DeliverySummary.properties.status),
  reason: Type.Optional(Type.String({
    minLength: 1, maxLength: 64, ...withoutNul, description: 'Why it is held, exhausted, cancelled or skipped.'
  })),
  outcome: Type.Optional(Type.Enum([...outcomes], { title: 'AttemptOutcome', description: 'How the newest attempt ended.' })),
  status_code: Type.Optional(Type.Integer({
    minimum: 100, maximum: 999, description: 'What the receiver answered to that attempt.'
  })),
  ...dateRange('made'),
  ...paging.parameters
})

export function addWebhooks (app: App, deps: OpsServices): void {
  const { pool } = deps
  app.get('/ops/api/deliveries', {
    onRequest,
    attachValidation: true,
    schema: {
      operationId: 'listDeliveriesOfAll',
      summary: 'List the webhook deliveries of all users',
      description: 'Newest first, without their attempts. Filters look at the newest 50,000 of the days that are asked for; ' +
        'those by user, by call and by a final status look at all.',
      tags,
      security,
      querystring: Filter,
      response: {
        200: answered('The page that was asked for.', PageOf(DeliveryOfUser), page(50, deliveryOfUser)), ...readErrors
      }
    }
  }, async (request) => {
    const { query } = request
    const errors = { ...paging.problems(query), ...rangeErrors(query), ...queryErrors(request) }
    if (Object.keys(errors).length > 0) throw invalid(errors)
    const { user_id: userId, assistant_id: assistantId, call_id: callId, status_code: statusCode } = query
    const { url, status, reason, outcome, date_from: from, date_to: to } = query
    const filter = { userId, assistantId, callId, url, status, reason, outcome, statusCode }
    const times = { createdFrom: earliest(from), createdTo: latest(to) }
    return paging.answer(query, await listDeliveries(pool, { ...filter, ...times }, paging.requested(query)))
  })

  app.get('/ops/api/deliveries/:id', {
    onRequest,
    schema: {
      operationId: 'getDeliveryOfAll',
      summary: 'Get a webhook delivery of any user',
      description: 'With its newest 50 attempts, oldest first, and the request of the newest one that was made.',
      tags,
      security,
      params: deliveryPath,
      response: {
        200: answered('The delivery.', One(DeliveryOfUserDetails), { data: deliveryOfUserDetails }),
        404: refusal(deliveryNotFound)
      }
    }
  }, async ({ params: { id } }) => {
    const found = await findDelivery(pool, undefined, id)
    if (!found) throw new Rejection('not-found', deliveryNotFound)
    return { data: { ...found, request: await findRequest(pool, id, packageVersion) } }
  })

  app.post('/ops/api/deliveries/:id/redeliver', {
    onRequest,
    schema: {
      operationId: 'redeliverOfAll',
      summary: 'Send a webhook of any user again',
      description: 'One more attempt, at once, also while the webhook is off or suspended. The schedule goes on as it was.',
      tags,
      security,
      params: deliveryPath,
      response: {
        202: answered('It is asked for.', Done, { message: sentAgain }),
        404: refusal(deliveryNotFound),
        409: refusal('It cannot be sent again: its payload is no longer kept.')
      }
    }
  }, async ({ params: { id } }, reply) => {
    const result = await redeliver(pool, id)
    if (result.kind === 'not-found') throw new Rejection('not-found', deliveryNotFound)
    if (result.kind === 'refused') throw new Rejection('webhook-refused', `It cannot be sent again: ${result.why}.`)
    return await reply.code(202).send({ message: sentAgain })
  })

  addTroubled(app, deps)
}

const sentAgain = 'It is sent again, as soon as a worker has room for it.'

function addTroubled (app: App, { pool }: OpsServices): void {
  app.get('/ops/api/webhooks', {
    onRequest,
    schema: {
      operationId: 'listTroubledWebhooks',
      summary: 'List the webhooks that fail, are suspended or pause',
      description: `The longest first; ${mostWebhooks} at most.`,
      tags,
      security,
      querystring: Type.Object({ state: Type.Optional(TroubledState) }),
      response: { 200: answered('All of them.', All(TroubledWebhook), { data: [troubled] }), ...readErrors }
    }
  }, async ({ query: { state } }) => ({ data: await troubledWebhooks(pool, mostWebhooks, state && [state]) }))

  app.post('/ops/api/webhooks/:id/resume', {
    onRequest,
    schema: {
      operationId: 'resumeWebhookOfAll',
      summary: 'Resume a suspended or paused webhook of any user',
      description: 'What was held is sent.',
      tags,
      security,
      params: assistantPath,
      response: { 200: answered('It is sent to.', Done, { message: goesOn(12) }), 409: refusal(notInterrupted) }
    }
  }, async ({ params: { id } }) => {
    const held = /^\d{1,18}$/.test(id) ? await inTransaction(pool, (tx) => endInterruption(tx, id)) : undefined
    if (held === undefined) throw new Rejection('webhook-refused', notInterrupted)
    return { message: goesOn(held) }
  })
}

const goesOn = (held: number) => `It is sent to again; ${held} deliveries were held.`
