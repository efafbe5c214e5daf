// PUT /user/assistant/{id}
import Type from 'typebox'
import { assistantDecider, assistantNotFound } from '../domain/assistant/decide.js'
import { assistantStream } from '../domain/assistant/events.js'
import { UpdateAssistantBody } from '../domain/assistant/settings.js'
import { Message, type App } from '../http/app-types.js'
import { only } from '../http/auth.js'
import { idIn } from '../http/path-id.js'
import { received } from '../http/received.js'
import { claimOf, ifMatchOf } from '../http/retry-headers.js'
import { AssistantAnswer, answerAssistant, assistantErrors, lookUpFacts, type AssistantDeps } from './assistant-command.js'

const schema = {
  summary: 'Update an assistant',
  description: 'Only the given fields change; objects and arrays are replaced whole.',
  tags: ['assistants'],
  security: [{ bearer: [] }],
  params: Type.Object({ id: Type.String({ description: 'The assistant, an integer.' }) }),
  body: UpdateAssistantBody,
  response: { 200: AssistantAnswer, 404: Message, 412: Message, ...assistantErrors }
}

export function updateAssistant (app: App, deps: AssistantDeps): void {
  const config = { failure: 'Assistant update failed' }
  app.put('/user/assistant/:id', { schema, config, attachValidation: true, onRequest: only('user') }, async (request, reply) => {
    const userId = request.user.id
    const assistantId = idOf(request.params.id)
    const input = received(request, reply, UpdateAssistantBody)
    const facts = await lookUpFacts(deps, userId, input)
    const outcome = await deps.idempotency.once(claimOf(request), async () => [], ({ commandId, isRetry }) => ({
      decider: assistantDecider,
      stream: assistantStream(assistantId),
      command: { type: 'update', assistantId, userId, ...input, facts, now: new Date().toISOString() },
      commandId,
      userId,
      correlationId: request.id,
      isRetry,
      ifRevision: ifMatchOf(request)
    }))
    return await reply.send(await answerAssistant(deps, reply, 'Assistant updated successfully', outcome))
  })
}

/** @throws Rejection when the path holds no id that an assistant could have */
function idOf (text: string): number {
  const id = idIn(text)
  if (id === undefined) throw assistantNotFound()
  return id
}
