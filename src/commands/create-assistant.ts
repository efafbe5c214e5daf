// POST /user/assistant
import { assistantDecider } from '../domain/assistant/decide.js'
import { assistantStream } from '../domain/assistant/events.js'
import { CreateAssistantBody } from '../domain/assistant/settings.js'
import { Rejection } from '../domain/rejection.js'
import type { App } from '../http/app-types.js'
import { only } from '../http/auth.js'
import { example, invalid } from '../http/docs/describe.js'
import { newAssistant } from '../http/docs/examples.js'
import { received } from '../http/received.js'
import { claimOf } from '../http/retry-headers.js'
import { answerAssistant, assistantAnswer, lookUpFacts, type AssistantDeps } from './assistant-command.js'

const created = 'Assistant created successfully'

const schema = {
  operationId: 'createAssistant',
  summary: 'Create an assistant',
  description: 'Optional fields that are left out get their defaults.',
  tags: ['assistants'],
  security: [{ bearer: [] }],
  body: example(CreateAssistantBody, newAssistant),
  response: {
    201: assistantAnswer(created),
    422: invalid({ assistant_name: ['must be at most 255 characters'], voice_id: ['must be an available voice'], 'post_call_schema.0.name': ['is required'] })
  }
}

export function createAssistant (app: App, deps: AssistantDeps): void {
  const config = { failure: 'Assistant creation failed', requestHeaders: ['Idempotency-Key'] as const }
  app.post('/user/assistant', { schema, config, attachValidation: true, onRequest: only('user') }, async (request, reply) => {
    const userId = request.user.id
    const input = received(request, reply, CreateAssistantBody)
    const facts = await lookUpFacts(deps, userId, input)
    const command = { type: 'create' as const, userId, ...input, facts, now: new Date().toISOString() }
    if (Object.keys(input.refused).length > 0) assistantDecider.decide({ ...command, assistantId: 0 }, assistantDecider.initialState) // refuses: no id, no key, no stream
    const outcome = await withFreeId(() => deps.idempotency.once(claimOf(request), () => deps.ids.take('assistant'), ({ commandId, ids: [assistantId = 0], isRetry }) => ({
      decider: assistantDecider,
      stream: assistantStream(assistantId),
      command: { ...command, assistantId },
      commandId,
      userId,
      correlationId: request.id,
      isNew: true,
      isRetry
    })))
    return await reply.code(201).send(await answerAssistant(deps, reply, created, outcome))
  })
}

const mostTakenIds = 10

/** Where the sequence is behind the log, ids whose stream exists are passed over. */
async function withFreeId<Outcome> (create: () => Promise<Outcome>): Promise<Outcome> {
  for (let taken = 1; ; taken++) {
    try {
      return await create()
    } catch (error) {
      if (!(error instanceof Rejection && error.code === 'id-taken') || taken === mostTakenIds) throw error
    }
  }
}
