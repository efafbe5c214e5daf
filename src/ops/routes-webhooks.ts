// Webhooks of all users: deliveries, and those that fail or are suspended.
import Type from 'typebox'
import { findDelivery, findRequest, listDeliveries } from '../../workers/deliveries/read.js'
import { endInterruption, troubledWebhooks } from '../../workers/deliveries/webhooks.js'
import { redeliver } from '../../workers/operate/redeliver.js'
import { UserId, withoutNul } from '../domain/json.js'
import { invalid, Rejection } from '../domain/rejection.js'
import { TroubledState, TroubledWebhook } from '../features/webhooks/model.js'
import { type App, assistantPath, deliveryPath } from '../http/app-types.js'
import { answered, One, refusal } from '../http/docs/describe.js'
import { page } from '../http/docs/examples.js'
import { deliveryFilterOf, deliveryFilters, rangeErrors } from '../http/filters.js'
import { PageOf, Paging } from '../http/lists.js'
import { queryErrors } from '../http/read-position.js'
import { packageVersion } from '../package-root.js'
import { inTransaction } from '../postgres/transaction.js'
import {
  All, deliveryOfUser, DeliveryOfUser, deliveryOfUserDetails, DeliveryOfUserDetails, Done, forOperators, troubled
} from './answers.js'
import type { OpsServices } from './services.js'

const mostWebhooks = 200
const paging = new Paging('deliveries-of-all', 50, ['time', 'uuid'])

const deliveryNotFound = 'There is no such delivery.'
const notInterrupted = 'Nothing keeps this webhook from being sent to.'

const { assistant_id, call_id, status, ...others } = deliveryFilters
const Filter = Type.Object({
  user_id: Type.Optional(UserId),
  assistant_id,
  call_id,
  url: Type.Optional(Type.String({
    minLength: 1, maxLength: 2_048, ...withoutNul, description: 'How the URL begins that its webhook goes to.'
  })),
  status,
  reason: Type.Optional(Type.String({
    minLength: 1, maxLength: 64, ...withoutNul, description: 'Why it is held, exhausted, cancelled or skipped.'
  })),
  ...others,
  ...paging.parameters
})

export function addWebhooks (app: App, deps: OpsServices): void {
  const { pool } = deps
  app.get('/ops/api/deliveries', {
    attachValidation: true,
    ...forOperators('listDeliveriesOfAll', 'List the webhook deliveries of all users',
      'Newest first, without their attempts. Filters look at the newest 50,000 of the days that are asked for; ' +
      'those by user, by call and by a final status look at all.', {
        querystring: Filter,
        response: {
          200: answered('The page that was asked for.', PageOf(DeliveryOfUser), page(50, deliveryOfUser))
        }
      })
  }, async (request) => {
    const { query } = request
    const errors = { ...paging.problems(query), ...rangeErrors(query), ...queryErrors(request) }
    if (Object.keys(errors).length > 0) throw invalid(errors)
    const { user_id: userId, url, reason } = query
    const filter = { userId, url, reason, ...deliveryFilterOf(query) }
    return paging.answer(query, await listDeliveries(pool, filter, paging.requested(query)))
  })

  app.get('/ops/api/deliveries/:id', forOperators('getDeliveryOfAll', 'Get a webhook delivery of any user',
    'With its newest 50 attempts, oldest first, and the request of the newest one that was made.', {
      params: deliveryPath,
      response: {
        200: answered('The delivery.', One(DeliveryOfUserDetails), { data: deliveryOfUserDetails }),
        404: refusal(deliveryNotFound)
      }
    }), async ({ params: { id } }) => {
    const found = await findDelivery(pool, undefined, id)
    if (!found) throw new Rejection('not-found', deliveryNotFound)
    return { data: { ...found, request: await findRequest(pool, id, packageVersion) } }
  })

  app.post('/ops/api/deliveries/:id/redeliver', forOperators('redeliverOfAll', 'Send a webhook of any user again',
    'One more attempt, at once, also while the webhook is off or suspended. The schedule goes on as it was.', {
      params: deliveryPath,
      response: {
        202: answered('It is asked for.', Done, { message: sentAgain }),
        404: refusal(deliveryNotFound),
        409: refusal('It cannot be sent again: its payload is no longer kept.')
      }
    }), async ({ params: { id } }, reply) => {
    const result = await redeliver(pool, id)
    if (result.kind === 'not-found') throw new Rejection('not-found', deliveryNotFound)
    if (result.kind === 'refused') throw new Rejection('webhook-refused', `It cannot be sent again: ${result.why}.`)
    return await reply.code(202).send({ message: sentAgain })
  })

  addTroubled(app, deps)
}

const sentAgain = 'It is sent again, as soon as a worker has room for it.'

function addTroubled (app: App, { pool }: OpsServices): void {
  app.get('/ops/api/webhooks', forOperators('listTroubledWebhooks', 'List the webhooks that fail, are suspended or pause',
    `The longest first; ${mostWebhooks} at most.`, {
      querystring: Type.Object({ state: Type.Optional(TroubledState) }),
      response: { 200: answered('All of them.', All(TroubledWebhook), { data: [troubled] }) }
    }), async ({ query: { state } }) => ({ data: await troubledWebhooks(pool, mostWebhooks, state && [state]) }))

  app.post('/ops/api/webhooks/:id/resume', forOperators('resumeWebhookOfAll', 'Resume a suspended or paused webhook of any user',
    'What was held is sent.', {
      params: assistantPath,
      response: { 200: answered('It is sent to.', Done, { message: goesOn(12) }), 409: refusal(notInterrupted) }
    }), async ({ params: { id } }) => {
    const held = /^\d{1,18}$/.test(id) ? await inTransaction(pool, (tx) => endInterruption(tx, id)) : undefined
    if (held === undefined) throw new Rejection('webhook-refused', notInterrupted)
    return { message: goesOn(held) }
  })
}

const goesOn = (held: number) => `It is sent to again; ${held} deliveries were held.`
