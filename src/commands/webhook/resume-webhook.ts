// POST /user/assistant/{id}/webhook-resume
import Type from 'typebox'
import { Rejection } from '../../domain/rejection.js'
import type { App } from '../../http/app-types.js'
import { only } from '../../http/auth/auth.js'
import { answered, refusal } from '../../http/docs/describe.js'
import { assistantPath } from '../../http/path-id.js'
import { ownAssistant, type OwnAssistantDeps } from '../own-assistant.js'

export interface ResumeWebhookDeps extends OwnAssistantDeps {
  /** Resumes the user's URL. @returns how many deliveries are scheduled again */
  resumeWebhook (userId: string, url: string): Promise<number>
}

const resumed = 'The webhook is resumed'
const isOff = 'The webhook is switched off: set is_webhook_active to true instead.'

const ResumeAnswer = Type.Object({
  message: Type.String(),
  data: Type.Object({
    resumed: Type.Integer({
      minimum: 0, description: 'Deliveries that were held and are scheduled again; 0 when it was not suspended.'
    })
  })
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
    200: answered('It is not suspended any more.', ResumeAnswer, { message: resumed, data: { resumed: 3 } }),
    404: refusal('Assistant not found or does not belong to the authenticated user'),
    409: refusal(isOff)
  }
}

export function resumeWebhook (app: App, deps: ResumeWebhookDeps): void {
  app.post('/user/assistant/:id/webhook-resume', { schema, onRequest: only('user') }, async ({ user, params }) => {
    const { settings: { is_webhook_active: isActive, webhook_url: url } } = await ownAssistant(deps, user.id, params.id)
    if (!isActive || url === null) throw new Rejection('webhook-refused', isOff)
    return { message: resumed, data: { resumed: await deps.resumeWebhook(user.id, url) } }
  })
}
