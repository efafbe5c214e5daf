// GET /user/webhook-secret
import Type, { type Static } from 'typebox'
import type { App } from '../../http/app-types.js'
import { only } from '../../http/auth/auth.js'
import { answered } from '../../http/docs/describe.js'

export const WebhookSecret = Type.Object({
  secret: Type.String({
    description: 'Verifies webhook-signature, as Standard Webhooks describes.', examples: ['whsec_...']
  }),
  previous: Type.Unsafe<{ secret: string, expires_at: string } | null>({
    title: 'PreviousSecret',
    type: ['object', 'null'],
    required: ['secret', 'expires_at'],
    properties: { secret: { type: 'string' }, expires_at: { type: 'string', description: 'ISO 8601, UTC.' } },
    description: 'After a rotation, the secret that was current before: signs as well until it expires.'
  })
}, { title: 'WebhookSecret' })

export interface WebhookSecretDeps {
  /** The user's signing secret, made at the first call. */
  webhookSecret (userId: string): Promise<Static<typeof WebhookSecret>>
}

export const WebhookSecretAnswer = Type.Object({ data: WebhookSecret }, { title: 'WebhookSecretAnswer' })

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
  app.get('/user/webhook-secret', { schema, onRequest: only('user') }, async (request, reply) => {
    await app.acquireReadSlot('item', request, reply)
    return { data: await webhookSecret(request.user.id) }
  })
}
