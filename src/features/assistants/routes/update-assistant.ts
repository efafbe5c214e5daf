// PUT /user/assistant/{id}
import type { FastifyBaseLogger } from 'fastify'
import { assistantDecider } from '../decide.js'
import { assistantStream } from '../events.js'
import type { AssistantState } from '../evolve.js'
import { UpdateAssistantBody } from '../bodies.js'
import { validateChanges, type AssistantFacts } from '../validate.js'
import type { App } from '../../../http/app-types.js'
import { command, type Handled } from '../../../http/command-route.js'
import { example, invalid, refusal } from '../../../http/docs/describe.js'
import { changedAssistant } from '../../../http/docs/examples.js'
import { assistantPath } from '../../../http/path-id.js'
import {
  answerAssistant, assistantAnswer, assistantIdIn, lookUpFacts, type AssistantDeps
} from './assistant-command.js'

const updated = 'Assistant updated successfully'

const schema = {
  operationId: 'updateAssistant',
  summary: 'Update an assistant',
  description: 'Only the given fields change; objects and arrays are replaced whole.',
  tags: ['assistants'],
  security: [{ bearer: [] }],
  params: assistantPath,
  body: example(UpdateAssistantBody, changedAssistant),
  response: {
    200: assistantAnswer(updated),
    404: refusal('Assistant not found or does not belong to the authenticated user'),
    422: invalid({
      webhook_url: ['is required when is_webhook_active is true'], speech_speed: ['must be between 0.7 and 1.2']
    })
  }
}

export interface UpdateAssistantDeps extends AssistantDeps {
  /** Resumes the user's URL, if it is suspended. */
  resumeUrl (userId: string, url: string): Promise<unknown>
}

export function updateAssistant (app: App, deps: UpdateAssistantDeps): void {
  const options = command('user', 'Assistant update failed', 'Idempotency-Key', 'If-Match')
  app.put('/user/assistant/:id', { schema, ...options }, async (request, reply) => {
    const id = assistantIdIn(request.params.id)
    return await deps.handle(request, reply, {
      body: UpdateAssistantBody,
      facts: (body) => lookUpFacts(deps, request.user.id, body),
      validate: validateChanges,
      stream: () => assistantStream(id),
      isForOwner: true,
      decider: assistantDecider,
      etag: true,
      async answer (handled) {
        await resumeWebhook(deps, handled, request.log)
        return await answerAssistant(deps, updated, handled)
      }
    })
  })
}

type Updated = Handled<AssistantState, AssistantFacts, UpdateAssistantBody>

/** A suspended webhook is still active in the log, so a body that switches it on changes nothing there: it resumes. */
async function resumeWebhook (
  deps: UpdateAssistantDeps, { body, state }: Updated, log: FastifyBaseLogger
): Promise<void> {
  const url = state?.settings.webhook_url
  if (!state || url == null || body.is_webhook_active !== true) return
  await deps.resumeUrl(state.user_id, url)
    .catch((error: unknown) => log.warn({ err: error }, 'a webhook was not resumed'))
}
