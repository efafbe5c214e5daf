// POST /user/webhook-secret/rotate
import type { Static } from 'typebox'
import type { Ledger } from '../../../commands/idempotency/ledger-commands.js'
import { Rejection } from '../../../domain/rejection.js'
import type { App } from '../../../http/app-types.js'
import { answered, invalid, refusal, replayHeaders } from '../../../http/docs/describe.js'
import { rotatedSecret } from '../../../http/docs/examples.js'
import type { HandleLedger } from '../../../http/ledger-route.js'
import { WebhookSecretAnswer, type WebhookSecret } from '../secret.js'
import { overlapHours, rotation, rotationBody, tooSoon } from './overlap.js'

export interface RotateSecretDeps {
  handleLedger: HandleLedger
  /** Nothing when so many former secrets still sign that no further one may. */
  rotateSecret (
    ledger: Ledger, userId: string, overlapHours: number | undefined
  ): Promise<Static<typeof WebhookSecret> | undefined>
}

const schema = {
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
    409: refusal(tooSoon),
    422: invalid({ overlap_hours: ['must be between 0 and 168'] })
  }
}

export function rotateWebhookSecret (app: App, { handleLedger, rotateSecret }: RotateSecretDeps): void {
  app.post('/user/webhook-secret/rotate', { schema, ...rotation('Rotating the secret failed') }, (request, reply) =>
    handleLedger(request, reply, {
      prepare: async () => overlapHours(request, reply),
      async write (ledger, hours) {
        const data = await rotateSecret(ledger, request.user.id, hours)
        if (!data) throw new Rejection('webhook-refused', tooSoon)
        return { status: 200, body: { data } }
      }
    }))
}
