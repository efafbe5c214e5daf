// POST /user/webhook-deliveries/{id}/redeliver
import type { RequestedAttempt } from '../delivery.js'
import type { App } from '../../../http/app-types.js'
import type { Ledger } from '../../../commands/idempotency/ledger-commands.js'
import { command } from '../../../http/command-route.js'
import { answered, refusal, replayHeaders } from '../../../http/docs/describe.js'
import { nothing, type HandleLedger } from '../../../http/ledger-route.js'
import { deliveryPath } from '../../../http/path-id.js'
import { redelivered } from '../../../http/docs/examples.js'
import { AttemptAnswer, answerAttempt, deliveryNotFound, tooMany } from './attempt-answer.js'

export interface RedeliverDeps {
  handleLedger: HandleLedger
  /** Requests one more attempt of the user's delivery. */
  redeliver (ledger: Ledger, userId: string, deliveryId: string): Promise<RequestedAttempt>
}

const accepted = 'The delivery is sent again'

const schema = {
  operationId: 'redeliverWebhook',
  summary: 'Send a webhook again',
  description: 'One more attempt, at once, with the same webhook-id and body, to the webhook_url that the assistant ' +
    'has now; also while its webhook is off or suspended, and whatever became of the delivery. A success makes it ' +
    'delivered, a failure changes nothing: the schedule goes on. At most 10 a minute for each assistant.',
  tags: ['webhooks'],
  security: [{ bearer: [] }],
  params: deliveryPath,
  response: {
    202: answered(
      'The delivery with the attempt that waits for its turn.',
      AttemptAnswer, { message: accepted, data: redelivered }, replayHeaders
    ),
    404: refusal(deliveryNotFound),
    409: refusal('Nothing can be sent: its payload is no longer kept.'),
    429: tooMany
  }
}

export function redeliverWebhook (app: App, { handleLedger, redeliver }: RedeliverDeps): void {
  const options = command('user', 'Redelivery failed', 'Idempotency-Key')
  app.post('/user/webhook-deliveries/:id/redeliver', { schema, ...options }, (request, reply) =>
    handleLedger(request, reply, {
      prepare: nothing,
      write: async (ledger) =>
        answerAttempt(reply, await redeliver(ledger, request.user.id, request.params.id), accepted)
    }))
}
