// The routes of the secrets that sign webhooks: of a user, and of an assistant.
import type { FastifyReply, FastifyRequest } from 'fastify'
import Type from 'typebox'
import {
  assistantSecrets, dropOwnSecret, rotateOwnSecret, rotateUserSecret, userSecrets
} from '../../../workers/deliver/secrets.js'
import { Rejection, soundBody } from '../../domain/rejection.js'
import { type App, assistantPath } from '../../http/app-types.js'
import { only } from '../../http/auth.js'
import { command } from '../../http/command-route.js'
import { answered, example, invalid, refusal, replayHeaders } from '../../http/docs/describe.js'
import { ownSecret, rotatedSecret, usersSecret } from '../../http/docs/examples.js'
import { received } from '../../http/bodies.js'
import type { ApiServices } from '../../services/services.js'
import { ofSecrets } from '../api-keys/events.js'
import { ownAssistant } from '../assistants/routes.js'
import { AssistantSecretAnswer, WebhookSecretAnswer } from './model.js'

const RotationBody = Type.Object({
  overlap_hours: Type.Optional(Type.Integer({
    minimum: 0,
    maximum: 168,
    default: 24,
    description: 'How long what signed before signs as well. With 0 everything that signed before ends at once.'
  }))
}, { title: 'RotationBody' })

const rotationBody = example(RotationBody, { overlap_hours: 24 })

const { config, ...asked } = command('user', 'Rotating the secret failed', 'Idempotency-Key')
/** Options of a route that rotates; it needs no body. */
const rotation = { ...asked, config: { ...config, isBodyOptional: true } }

/** @throws Rejection `invalid` */
const overlapHours = (request: FastifyRequest, reply: FastifyReply) =>
  soundBody(received(request, reply, RotationBody), []).overlap_hours

const notFound = refusal('Assistant not found or does not belong to the authenticated user')
const tooSoon = 'Two former secrets still sign: rotate again when the first of them has expired, ' +
  'or with overlap_hours 0, which ends both at once.'

const getSecretSchema = {
  operationId: 'getWebhookSecret',
  summary: 'The secret that signs your webhooks',
  description: 'Those of all your assistants but such as have a secret of their own. Receivers verify by it.',
  tags: ['webhooks'],
  security: [{ bearer: [] }],
  response: {
    200: answered('The secret, made at the first call.', WebhookSecretAnswer, {
      data: { secret: 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD', previous: null }
    })
  }
}

export function getWebhookSecret (app: App, { pool, keys }: ApiServices): void {
  const options = { schema: getSecretSchema, onRequest: only('user'), config: { scopes: ofSecrets } }
  app.get('/user/webhook-secret', options, async (request, reply) => {
    await app.acquireReadSlot('item', request, reply)
    return { data: await userSecrets(pool, keys, request.user.id) }
  })
}

const rotateSecretSchema = {
  operationId: 'rotateWebhookSecret',
  summary: 'Change the secret that signs your webhooks',
  description: 'The former secret signs beside the new one for 24 hours, or as many as overlap_hours says, so that ' +
    'receivers can be changed one after the other. Rotated again within that time, each former secret still signs ' +
    'until its own time is over; more than two of them are refused. Assistants with a secret of their own keep it.',
  tags: ['webhooks'],
  security: [{ bearer: [] }],
  body: rotationBody,
  response: {
    200: answered('The new secret, and the former one.', WebhookSecretAnswer, { data: rotatedSecret }, replayHeaders),
    422: invalid({ overlap_hours: ['must be between 0 and 168'] })
  }
}

export function rotateWebhookSecret (app: App, { handleLedger, keys }: ApiServices): void {
  const options = { schema: rotateSecretSchema, ...rotation }
  app.post('/user/webhook-secret/rotate', options, (request, reply) =>
    handleLedger(request, reply, {
      prepare: async () => overlapHours(request, reply),
      async write (ledger, hours) {
        const data = await rotateUserSecret(ledger, keys, request.user.id, hours)
        if (!data) throw new Rejection('webhook-refused', tooSoon)
        return { status: 200, body: { data } }
      }
    }))
}

const getAssistantSecretSchema = {
  operationId: 'getAssistantWebhookSecret',
  summary: 'The secret that signs the webhooks of an assistant',
  description: 'Receivers of its webhooks verify by it.',
  tags: ['webhooks'],
  security: [{ bearer: [] }],
  params: assistantPath,
  response: {
    200: answered('Its own secret, or yours.', AssistantSecretAnswer, { data: ownSecret }),
    404: notFound
  }
}

export function getAssistantWebhookSecret (app: App, services: ApiServices): void {
  const options = { schema: getAssistantSecretSchema, onRequest: only('user'), config: { scopes: ofSecrets } }
  app.get('/user/assistant/:id/webhook-secret', options, async (request, reply) => {
    await app.acquireReadSlot('item', request, reply)
    const { user, params } = request
    const { assistant_id: id } = await ownAssistant(services, user.id, params.id)
    return { data: await assistantSecrets(services.pool, services.keys, user.id, id) }
  })
}

const rotateAssistantSecretSchema = {
  operationId: 'rotateAssistantWebhookSecret',
  summary: 'Give an assistant a webhook secret of its own, or change it',
  description: 'The first call makes it: from then on it signs the webhooks of this assistant, and for 24 hours, or as ' +
    'many as overlap_hours says, your own secret signs beside it. Each further call changes it: the former one signs ' +
    'beside the new one for that time.',
  tags: ['webhooks'],
  security: [{ bearer: [] }],
  params: assistantPath,
  body: rotationBody,
  response: {
    200: answered('The new secret, and what signs beside it.', AssistantSecretAnswer, { data: ownSecret }, replayHeaders),
    404: notFound,
    422: invalid({ overlap_hours: ['must be between 0 and 168'] })
  }
}

const deleteAssistantSecretSchema = {
  operationId: 'deleteAssistantWebhookSecret',
  summary: 'Go back to your own webhook secret',
  description: 'Your own secret signs the webhooks of this assistant again; that of the assistant, if it had one, signs ' +
    'beside it for 24 hours.',
  tags: ['webhooks'],
  security: [{ bearer: [] }],
  params: assistantPath,
  response: {
    200: answered('Your own secret, and what signs beside it.', AssistantSecretAnswer, { data: usersSecret }, replayHeaders),
    404: notFound
  }
}

export function changeAssistantSecret (app: App, services: ApiServices): void {
  const path = '/user/assistant/:id/webhook-secret'
  app.post(path, { schema: rotateAssistantSecretSchema, ...rotation }, (request, reply) =>
    services.handleLedger(request, reply, {
      async prepare () {
        const hours = overlapHours(request, reply)
        return { hours, assistant: await ownAssistant(services, request.user.id, request.params.id) }
      },
      async write (ledger, { hours, assistant }) {
        const owner = { userId: request.user.id, id: assistant.assistant_id }
        const data = await rotateOwnSecret(ledger, services.keys, owner, hours)
        if (!data) throw new Rejection('webhook-refused', tooSoon)
        return { status: 200, body: { data } }
      }
    }))
  const dropping = command('user', 'Deleting the secret failed', 'Idempotency-Key')
  app.delete(path, { schema: deleteAssistantSecretSchema, ...dropping }, (request, reply) =>
    services.handleLedger(request, reply, {
      prepare: () => ownAssistant(services, request.user.id, request.params.id),
      async write (ledger, { assistant_id: id }) {
        return { status: 200, body: { data: await dropOwnSecret(ledger, services.keys, request.user.id, id) } }
      }
    }))
}
