// GET /user/assistant/{id}/webhook-secret
import type { Static } from 'typebox'
import { ownAssistant, type OwnAssistantDeps } from '../../assistants/routes.js'
import { ofSecrets } from '../../api-keys/events.js'
import { AssistantSecretAnswer, type AssistantSecret } from '../secret.js'
import type { App } from '../../../http/app-types.js'
import { only } from '../../../http/auth/auth.js'
import { answered, refusal } from '../../../http/docs/describe.js'
import { ownSecret } from '../../../http/docs/examples.js'
import { assistantPath } from '../../../http/path-id.js'

export interface AssistantSecretQueryDeps extends OwnAssistantDeps {
  assistantSecret (userId: string, assistantId: number): Promise<Static<typeof AssistantSecret>>
}

const schema = {
  operationId: 'getAssistantWebhookSecret',
  summary: 'The secret that signs the webhooks of an assistant',
  description: 'Receivers of its webhooks verify by it.',
  tags: ['webhooks'],
  security: [{ bearer: [] }],
  params: assistantPath,
  response: {
    200: answered('Its own secret, or yours.', AssistantSecretAnswer, { data: ownSecret }),
    404: refusal('Assistant not found or does not belong to the authenticated user')
  }
}

export function getAssistantWebhookSecret (app: App, deps: AssistantSecretQueryDeps): void {
  const options = { schema, onRequest: only('user'), config: { scopes: ofSecrets } }
  app.get('/user/assistant/:id/webhook-secret', options, async (request, reply) => {
    await app.acquireReadSlot('item', request, reply)
    const { user, params } = request
    const { assistant_id: id } = await ownAssistant(deps, user.id, params.id)
    return { data: await deps.assistantSecret(user.id, id) }
  })
}
