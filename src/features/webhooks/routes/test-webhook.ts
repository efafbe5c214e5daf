// POST /user/assistant/{id}/webhook-test
import type { RequestedAttempt } from '../delivery.js'
import type { App } from '../../../http/app-types.js'
import type { Ledger } from '../../../commands/idempotency/ledger-commands.js'
import { command } from '../../../http/command-route.js'
import { answered, refusal, replayHeaders } from '../../../http/docs/describe.js'
import type { HandleLedger } from '../../../http/ledger-route.js'
import { assistantPath } from '../../../http/path-id.js'
import { testDelivery } from '../../../http/docs/examples.js'
import { AttemptAnswer, answerAttempt, tooMany } from './attempt-answer.js'
import { ownAssistant, type OwnAssistantDeps } from '../../assistants/routes.js'

interface TestTarget { userId: string, assistant: { id: number, name: string }, url: string }

export interface TestWebhookDeps extends OwnAssistantDeps {
  handleLedger: HandleLedger
  /** Makes a test delivery to `url` and requests its only attempt. */
  testWebhook (ledger: Ledger, target: TestTarget): Promise<RequestedAttempt>
}

const accepted = 'A test is sent'

const schema = {
  operationId: 'testWebhook',
  summary: 'Send a test webhook',
  description: 'One request of the type `webhook.test` to the webhook_url of the assistant, signed like any other; ' +
    'also while the webhook is off. It is not repeated when it fails. A success resumes a suspended webhook. ' +
    'At most 10 a minute for each assistant.',
  tags: ['webhooks'],
  security: [{ bearer: [] }],
  params: assistantPath,
  response: {
    202: answered(
      'The test delivery; read it again to see what came of it.',
      AttemptAnswer, { message: accepted, data: testDelivery }, replayHeaders
    ),
    404: refusal('Assistant not found or does not belong to the authenticated user'),
    409: refusal('Nothing can be sent: the assistant has no webhook_url.'),
    429: tooMany
  }
}

export function testWebhook (app: App, deps: TestWebhookDeps): void {
  const options = command('user', 'The test failed', 'Idempotency-Key')
  app.post('/user/assistant/:id/webhook-test', { schema, ...options }, (request, reply) => {
    const { user, params } = request
    return deps.handleLedger(request, reply, {
      prepare: () => ownAssistant(deps, user.id, params.id),
      write: async (ledger, { assistant_id: id, settings: { assistant_name: name, webhook_url: url } }) => {
        const requested = url === null
          ? { kind: 'refused' as const, why: 'the assistant has no webhook_url' }
          : await deps.testWebhook(ledger, { userId: user.id, assistant: { id, name }, url })
        return answerAttempt(reply, requested, accepted)
      }
    })
  })
}
