// GET /user/webhook-secret
import type { Static } from 'typebox'
import { ofSecrets } from '../../api-keys/events.js'
import { WebhookSecretAnswer, type WebhookSecret } from '../secret.js'
import type { App } from '../../../http/app-types.js'
import { only } from '../../../http/auth/auth.js'
import { answered } from '../../../http/docs/describe.js'

export interface WebhookSecretDeps {
  /** The user's signing secret, made at the first call. */
  webhookSecret (userId: string): Promise<Static<typeof WebhookSecret>>
}

const schema = {
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

export function getWebhookSecret (app: App, { webhookSecret }: WebhookSecretDeps): void {
  const options = { schema, onRequest: only('user'), config: { scopes: ofSecrets } }
  app.get('/user/webhook-secret', options, async (request, reply) => {
    await app.acquireReadSlot('item', request, reply)
    return { data: await webhookSecret(request.user.id) }
  })
}
