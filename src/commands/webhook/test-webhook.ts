// POST /user/assistant/{id}/webhook-test
import type { RequestedAttempt } from '../../domain/webhook/delivery.js'
import type { App } from '../../http/app-types.js'
import { only } from '../../http/auth/auth.js'
import { answered, refusal } from '../../http/docs/describe.js'
import { assistantPath } from '../../http/path-id.js'
import { testDelivery } from '../../http/docs/read-examples.js'
import { AttemptAnswer, answerAttempt, tooMany } from './attempt-answer.js'
import { ownAssistant, type OwnAssistantDeps } from '../own-assistant.js'

interface TestTarget { userId: string, assistant: { id: number, name: string }, url: string }

export interface TestWebhookDeps extends OwnAssistantDeps {
  /** Makes a test delivery to `url` and requests its only attempt. */
  testWebhook (target: TestTarget): Promise<RequestedAttempt>
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
      AttemptAnswer, { message: accepted, data: testDelivery }
    ),
    404: refusal('Assistant not found or does not belong to the authenticated user'),
    409: refusal('Nothing can be sent: the assistant has no webhook_url.'),
    429: tooMany
  }
}

export function testWebhook (app: App, deps: TestWebhookDeps): void {
  app.post('/user/assistant/:id/webhook-test', { schema, onRequest: only('user') }, async (request, reply) => {
    const { assistant_id: id, settings } = await ownAssistant(deps, request.user.id, request.params.id)
    const { assistant_name: name, webhook_url: url } = settings
    const requested = url === null
      ? { kind: 'refused' as const, why: 'the assistant has no webhook_url' }
      : await deps.testWebhook({ userId: request.user.id, assistant: { id, name }, url })
    return await answerAttempt(reply, requested, accepted)
  })
}
