// POST /user/assistant/{id}/webhook-resume
import Type from 'typebox'
import type { App } from '../../../http/app-types.js'
import type { Ledger } from '../../../commands/idempotency/ledger-commands.js'
import { command } from '../../../http/command-route.js'
import { answered, refusal, replayHeaders } from '../../../http/docs/describe.js'
import type { HandleLedger } from '../../../http/ledger-route.js'
import { assistantPath } from '../../../http/path-id.js'
import { ownAssistant, type OwnAssistantDeps } from '../../assistants/routes.js'
import { activeUrl, isOff } from './active-url.js'

export interface ResumeWebhookDeps extends OwnAssistantDeps {
  handleLedger: HandleLedger
  /** Resumes the user's URL. @returns how many deliveries are scheduled again */
  resumeWebhook (ledger: Ledger, userId: string, url: string): Promise<number>
}

const resumed = 'The webhook is resumed'

const ResumeAnswer = Type.Object({
  message: Type.String(),
  data: Type.Object({
    resumed: Type.Integer({
      minimum: 0, description: 'Deliveries that were held and are scheduled again; 0 when it was not suspended.'
    })
  }, { title: 'Resumed' })
}, { title: 'ResumeAnswer' })

const schema = {
  operationId: 'resumeWebhook',
  summary: 'Resume a suspended webhook',
  description: 'Resumes the webhook_url of the assistant, for all assistants with that URL, ' +
    'and sends what was held for it.',
  tags: ['webhooks'],
  security: [{ bearer: [] }],
  params: assistantPath,
  response: {
    200: answered(
      'It is not suspended any more.', ResumeAnswer, { message: resumed, data: { resumed: 3 } }, replayHeaders
    ),
    404: refusal('Assistant not found or does not belong to the authenticated user'),
    409: refusal(isOff)
  }
}

export function resumeWebhook (app: App, deps: ResumeWebhookDeps): void {
  const options = command('user', 'Resuming the webhook failed', 'Idempotency-Key')
  app.post('/user/assistant/:id/webhook-resume', { schema, ...options }, (request, reply) => {
    const { user, params } = request
    return deps.handleLedger(request, reply, {
      prepare: async () => activeUrl(await ownAssistant(deps, user.id, params.id)),
      write: async (ledger, url) => {
        const data = { resumed: await deps.resumeWebhook(ledger, user.id, url) }
        return { status: 200, body: { message: resumed, data } }
      }
    })
  })
}
