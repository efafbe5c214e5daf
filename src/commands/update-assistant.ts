// PUT /user/assistant/{id}
import { assistantDecider, assistantNotFound } from '../domain/assistant/decide.js'
import { assistantStream } from '../domain/assistant/events.js'
import { UpdateAssistantBody } from '../domain/assistant/settings.js'
import type { App } from '../http/app-types.js'
import { only } from '../http/auth.js'
import { example, invalid, refusal } from '../http/docs/describe.js'
import { changedAssistant } from '../http/docs/examples.js'
import { assistantPath, idIn } from '../http/path-id.js'
import { received } from '../http/received.js'
import { claimOf, ifMatchOf } from '../http/retry-headers.js'
import { answerAssistant, assistantAnswer, lookUpFacts, type AssistantDeps } from './assistant-command.js'

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
    422: invalid({ webhook_url: ['is required when is_webhook_active is true'], speech_speed: ['must be between 0.7 and 1.2'] })
  }
}

export interface UpdateAssistantDeps extends AssistantDeps {
  /** Lifts the suspension of the user's URL, if it is suspended. */
  resumeWebhook (userId: string, url: string): Promise<unknown>
}

export function updateAssistant (app: App, deps: UpdateAssistantDeps): void {
  const config = { failure: 'Assistant update failed', requestHeaders: ['Idempotency-Key', 'If-Match'] as const }
  app.put('/user/assistant/:id', { schema, config, attachValidation: true, onRequest: only('user') }, async (request, reply) => {
    const userId = request.user.id
    const assistantId = idOf(request.params.id)
    const input = received(request, reply, UpdateAssistantBody)
    const facts = await lookUpFacts(deps, userId, input)
    const outcome = await deps.idempotency.once(claimOf(request, input.refused), async () => [], ({ commandId, isRetry }) => ({
      decider: assistantDecider,
      stream: assistantStream(assistantId),
      command: { type: 'update', assistantId, userId, ...input, facts, now: new Date().toISOString() },
      commandId,
      userId,
      correlationId: request.id,
      isRetry,
      ifRevision: ifMatchOf(request)
    }))
    const url = outcome.state?.settings.webhook_url
    // Suspended, it is active all the same: to say so again changes nothing in the log, and means that it is to go on.
    if (input.body.is_webhook_active === true && url != null) await deps.resumeWebhook(userId, url).catch((error: unknown) => request.log.warn({ err: error }, 'a webhook was not resumed'))
    return await reply.send(await answerAssistant(deps, reply, updated, outcome))
  })
}

/** @throws Rejection when the path holds no id that an assistant could have */
function idOf (text: string): number {
  const id = idIn(text)
  if (id === undefined) throw assistantNotFound()
  return id
}
