// POST and DELETE /user/assistant/{id}/webhook-secret
import type { Static } from 'typebox'
import type { Ledger } from '../../../commands/idempotency/ledger-commands.js'
import { Rejection } from '../../../domain/rejection.js'
import type { App } from '../../../http/app-types.js'
import { command } from '../../../http/command-route.js'
import { answered, invalid, refusal, replayHeaders } from '../../../http/docs/describe.js'
import { ownSecret, usersSecret } from '../../../http/docs/examples.js'
import type { HandleLedger } from '../../../http/ledger-route.js'
import { assistantPath } from '../../../http/path-id.js'
import { AssistantSecretAnswer, type AssistantSecret } from '../secret.js'
import { ownAssistant, type OwnAssistantDeps } from '../../assistants/routes.js'
import { overlapHours, rotation, rotationBody, tooSoon } from './overlap.js'

type Secret = Static<typeof AssistantSecret>

export interface AssistantSecretDeps extends OwnAssistantDeps {
  handleLedger: HandleLedger
  /** Nothing when so many former secrets still sign that no further one may. */
  rotateAssistantSecret (
    ledger: Ledger, userId: string, assistantId: number, overlapHours: number | undefined
  ): Promise<Secret | undefined>
  dropAssistantSecret (ledger: Ledger, userId: string, assistantId: number): Promise<Secret>
}

const notFound = refusal('Assistant not found or does not belong to the authenticated user')

const rotateSchema = {
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
    409: refusal(tooSoon),
    422: invalid({ overlap_hours: ['must be between 0 and 168'] })
  }
}

const dropSchema = {
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

export function changeAssistantSecret (app: App, deps: AssistantSecretDeps): void {
  const path = '/user/assistant/:id/webhook-secret'
  app.post(path, { schema: rotateSchema, ...rotation('Rotating the secret failed') }, (request, reply) =>
    deps.handleLedger(request, reply, {
      async prepare () {
        const hours = overlapHours(request, reply)
        return { hours, assistant: await ownAssistant(deps, request.user.id, request.params.id) }
      },
      async write (ledger, { hours, assistant }) {
        const data = await deps.rotateAssistantSecret(ledger, request.user.id, assistant.assistant_id, hours)
        if (!data) throw new Rejection('webhook-refused', tooSoon)
        return { status: 200, body: { data } }
      }
    }))
  const dropping = command('user', 'Deleting the secret failed', 'Idempotency-Key')
  app.delete(path, { schema: dropSchema, ...dropping }, (request, reply) =>
    deps.handleLedger(request, reply, {
      prepare: () => ownAssistant(deps, request.user.id, request.params.id),
      async write (ledger, { assistant_id: id }) {
        return { status: 200, body: { data: await deps.dropAssistantSecret(ledger, request.user.id, id) } }
      }
    }))
}
