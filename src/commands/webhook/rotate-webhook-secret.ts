// POST /user/webhook-secret/rotate
import type { Static } from 'typebox'
import { Rejection } from '../../domain/rejection.js'
import type { App } from '../../http/app-types.js'
import { only } from '../../http/auth/auth.js'
import { answered, refusal } from '../../http/docs/describe.js'
import { rotatedSecret } from '../../http/docs/read-examples.js'
import { WebhookSecretAnswer, type WebhookSecret } from '../../queries/webhook-secret.js'

export interface RotateSecretDeps {
  /** Nothing when so many former secrets still sign that no further one may. */
  rotateSecret (userId: string): Promise<Static<typeof WebhookSecret> | undefined>
}

const tooSoon = 'Two former secrets still sign, each for 24 hours after its rotation: ' +
  'rotate again when the first of them has expired.'

const schema = {
  operationId: 'rotateWebhookSecret',
  summary: 'Change the secret that signs your webhooks',
  description: 'The former secret signs beside the new one for 24 hours, so that receivers can be changed one after ' +
    'the other. Rotated again within that time, each former secret still signs until its own time is over; ' +
    'more than two of them are refused.',
  tags: ['webhooks'],
  security: [{ bearer: [] }],
  response: {
    200: answered('The new secret, and the former one.', WebhookSecretAnswer, { data: rotatedSecret }),
    409: refusal(tooSoon)
  }
}

export function rotateWebhookSecret (app: App, { rotateSecret }: RotateSecretDeps): void {
  app.post('/user/webhook-secret/rotate', { schema, onRequest: only('user') }, async ({ user }) => {
    const data = await rotateSecret(user.id)
    if (!data) throw new Rejection('webhook-refused', tooSoon)
    return { data }
  })
}
