// The routes of what a webhook is sent with: secrets that sign, of a user and of an assistant, and options.
import type { FastifyReply, FastifyRequest } from 'fastify'
import Type, { type TSchema } from 'typebox'
import {
  assistantSecrets, dropOwnSecret, rotateSecret, userSecrets
} from '../../../workers/deliver/secrets.js'
import { changeOptions, findOptions } from '../../../workers/deliveries/options.js'
import { findWebhook } from '../../../workers/deliveries/webhooks.js'
import { Rejection, soundBody } from '../../domain/rejection.js'
import { assistantPath } from '../../http/app-types.js'
import { received } from '../../http/bodies.js'
import { command, refuseUnlessMatching } from '../../http/command-route.js'
import { answered, example, invalid, One, refusal, replayHeaders, withMessage } from '../../http/docs/describe.js'
import { newWebhookOptions, ownSecret, rotatedSecret, usersSecret, webhookOptions } from '../../http/docs/examples.js'
import { etagOfData, readingNow, tagged } from '../../http/read-position.js'
import { ofSecrets } from '../api-keys/events.js'
import { assistantNotFound } from '../assistants/model.js'
import { ownAssistant } from '../assistants/routes.js'
import { route } from '../route.js'
import { AssistantSecretAnswer, WebhookSecretAnswer } from './model.js'
import { validateOptions, WebhookOptions, WebhookOptionsBody } from './options.js'

const tags = ['webhooks']
const notFound = refusal(assistantNotFound().message)
const secret = <Answer extends TSchema>(description: string, schema: Answer, data: object) =>
  answered(description, schema, { data }, replayHeaders)

const RotationBody = Type.Object({
  overlap_hours: Type.Optional(Type.Integer({
    minimum: 0,
    maximum: 168,
    default: 24,
    description: 'How long what signed before signs as well. With 0 everything that signed before ends at once.'
  }))
}, { title: 'RotationBody' })
const rotation = { body: example(RotationBody, { overlap_hours: 24 }) }
const wrongHours = invalid({ overlap_hours: ['must be between 0 and 168'] })

/** @throws Rejection `invalid` */
const overlapHours = (request: FastifyRequest, reply: FastifyReply) =>
  soundBody(received(request, reply, RotationBody), []).overlap_hours

const tooSoon = 'Two former secrets still sign: rotate again when the first of them has expired, ' +
  'or with overlap_hours 0, which ends both at once.'

/** @throws Rejection `webhook-refused` */
function rotated<Data extends object> (data: Data | false): { status: number, body: { data: Data } } {
  if (!data) throw new Rejection('webhook-refused', tooSoon)
  return { status: 200, body: { data } }
}

const getWebhookSecret = route('GET', '/user/webhook-secret', readingNow({
  tags,
  operationId: 'getWebhookSecret',
  summary: 'The secret that signs your webhooks',
  description: 'Those of all your assistants but such as have a secret of their own. Receivers verify by it.',
  response: {
    200: answered('The secret, made at the first call.', WebhookSecretAnswer, {
      data: { secret: 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD', previous: null }
    })
  }
}, { scopes: ofSecrets }), ({ pool, keys }) => async ({ user }) => ({ data: await userSecrets(pool, keys, user.id) }))

const rotateWebhookSecret = route('POST', '/user/webhook-secret/rotate', command('user', 'Rotating the secret failed', ['Idempotency-Key'], {
  ...rotation,
  tags,
  operationId: 'rotateWebhookSecret',
  summary: 'Change the secret that signs your webhooks',
  description: 'The former secret signs beside the new one for 24 hours, or as many as overlap_hours says, so that ' +
    'receivers can be changed one after the other. Rotated again within that time, each former secret still signs ' +
    'until its own time is over; more than two of them are refused. Assistants with a secret of their own keep it.',
  response: { 200: secret('The new secret, and the former one.', WebhookSecretAnswer, rotatedSecret), 422: wrongHours }
}, { isBodyOptional: true }), ({ handleLedger, keys }) => (request, reply) => handleLedger(request, reply, {
  prepare: async () => overlapHours(request, reply),
  async write (ledger, hours) {
    const { user: { id: userId } } = request
    return rotated(await rotateSecret(ledger, keys, { userId }, hours) && await userSecrets(ledger, keys, userId))
  }
}))

const path = '/user/assistant/:id/webhook-secret'

const getAssistantSecret = route('GET', path, readingNow({
  tags,
  operationId: 'getAssistantWebhookSecret',
  summary: 'The secret that signs the webhooks of an assistant',
  description: 'Receivers of its webhooks verify by it.',
  params: assistantPath,
  response: { 200: answered('Its own secret, or yours.', AssistantSecretAnswer, { data: ownSecret }), 404: notFound }
}, { scopes: ofSecrets }), (services) => async ({ user, params }) => {
  const { assistant_id: id } = await ownAssistant(services, user.id, params.id)
  return { data: await assistantSecrets(services.pool, services.keys, user.id, id) }
})

const rotateAssistantSecret = route('POST', path, command('user', 'Rotating the secret failed', ['Idempotency-Key'], {
  ...rotation,
  tags,
  operationId: 'rotateAssistantWebhookSecret',
  summary: 'Give an assistant a webhook secret of its own, or change it',
  description: 'The first call makes it: from then on it signs the webhooks of this assistant, and for 24 hours, or as ' +
    'many as overlap_hours says, your own secret signs beside it. Each further call changes it: the former one signs ' +
    'beside the new one for that time.',
  params: assistantPath,
  response: {
    200: secret('The new secret, and what signs beside it.', AssistantSecretAnswer, ownSecret),
    404: notFound,
    422: wrongHours
  }
}, { isBodyOptional: true }), (services) => (request, reply) => services.handleLedger(request, reply, {
  async prepare () {
    const hours = overlapHours(request, reply)
    return { hours, assistant: await ownAssistant(services, request.user.id, request.params.id) }
  },
  async write (ledger, { hours, assistant: { assistant_id: assistantId } }) {
    const { keys } = services
    const { user: { id: userId } } = request
    const isRotated = await rotateSecret(ledger, keys, { userId, assistantId }, hours)
    return rotated(isRotated && await assistantSecrets(ledger, keys, userId, assistantId))
  }
}))

const deleteAssistantSecret = route('DELETE', path, command('user', 'Deleting the secret failed', ['Idempotency-Key'], {
  tags,
  operationId: 'deleteAssistantWebhookSecret',
  summary: 'Go back to your own webhook secret',
  description: 'Your own secret signs the webhooks of this assistant again; that of the assistant, if it had one, signs ' +
    'beside it for 24 hours.',
  params: assistantPath,
  response: { 200: secret('Your own secret, and what signs beside it.', AssistantSecretAnswer, usersSecret), 404: notFound }
}), (services) => (request, reply) => services.handleLedger(request, reply, {
  prepare: () => ownAssistant(services, request.user.id, request.params.id),
  async write (ledger, { assistant_id: id }) {
    return { status: 200, body: { data: await dropOwnSecret(ledger, services.keys, request.user.id, id) } }
  }
}))

const none: WebhookOptions = { headers: {}, max_per_second: null }

const getOptions = route('GET', '/user/assistant/:id/webhook-options', readingNow({
  tags,
  operationId: 'getWebhookOptions',
  summary: 'The options of an assistant\'s webhook',
  description: 'Headers of your own, and how many attempts may start in a second.',
  params: assistantPath,
  response: { 200: answered('The options.', One(WebhookOptions), { data: webhookOptions }, ['ETag']), 404: notFound }
}), (services) => async ({ user, params }, reply) => {
  const { assistant_id: id } = await ownAssistant(services, user.id, params.id)
  return { data: tagged(reply, await findOptions(services.pool, services.keys, id, user.id) ?? none) }
})

const updated = 'Webhook options updated successfully'
const updateOptions = route('PUT', '/user/assistant/:id/webhook-options', command('user', 'Updating the webhook options failed', ['Idempotency-Key', 'If-Match'], {
  tags,
  operationId: 'updateWebhookOptions',
  summary: 'Change the options of an assistant\'s webhook',
  description: 'What is absent stays as it is. Headers are kept encrypted, go to the webhook_url of each attempt, and are not signed.',
  params: assistantPath,
  body: example(WebhookOptionsBody, newWebhookOptions),
  response: {
    200: withMessage('The options from now on.', WebhookOptions, {
      message: updated, data: webhookOptions
    }, ['ETag', 'X-Ignored-Fields', ...replayHeaders]),
    404: notFound,
    422: invalid({ 'headers.User-Agent': ['must have another name, such as X-Api-Key: each webhook has this one already'] })
  }
}), (services) => async (request, reply) => {
  const answer = await services.handleLedger(request, reply, {
    async prepare () {
      const given = validateOptions(received(request, reply, WebhookOptionsBody))
      const { assistant_id: id } = await ownAssistant(services, request.user.id, request.params.id)
      const isChange = Object.keys(given).length > 0
      if (isChange) await services.positions.orNotKnown('deliveries', () => findWebhook(services.pool, id))
      return { given, isChange, assistantId: id, userId: request.user.id }
    },
    async write (ledger, { given, isChange, ...whose }) {
      const before = await findOptions(ledger, services.keys, whose.assistantId, whose.userId, 'FOR UPDATE')
      refuseUnlessMatching(request, () => etagOfData(before ?? none))
      const data = await changeOptions(ledger, services.keys, whose, given)
      if (!data && isChange) throw assistantNotFound()
      return { status: 200, body: { message: updated, data: data ?? none } }
    }
  })
  tagged(reply, answer.data)
  return answer
})

export const secretCommands = [rotateWebhookSecret, rotateAssistantSecret, deleteAssistantSecret]
export const secretQueries = [getWebhookSecret, getAssistantSecret]
export const optionRoutes = [getOptions, updateOptions]
