// POST /user/assistant
import { assistantDecider, type AssistantFacts } from '../domain/assistant/decide.js'
import { assistantStream } from '../domain/assistant/events.js'
import { CreateAssistantBody, type AssistantBody } from '../domain/assistant/settings.js'
import { Rejection } from '../domain/rejection.js'
import type { App } from '../http/app-types.js'
import { only } from '../http/auth.js'
import { example, invalid } from '../http/describe.js'
import { newAssistant } from '../http/examples.js'
import { received, type Received } from '../http/received.js'
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
    refuseWithoutStream(userId, input, facts)
    const outcome = await withFreeId(() => deps.idempotency.once(claimOf(request), () => deps.ids.take('assistant'), ({ commandId, ids: [assistantId = 0], isRetry }) => ({
      decider: assistantDecider,
      stream: assistantStream(assistantId),
      command: { type: 'create', assistantId, userId, ...input, facts, now: new Date().toISOString() },
      commandId,
      userId,
      correlationId: request.id,
      isNew: true,
      isRetry
    })))
    return await reply.code(201).send(await answerAssistant(deps, reply, created, outcome))
  })
}

/** What the schema refused needs no id, no key and no stream to be refused with all that the rules find besides. */
function refuseWithoutStream (userId: string, input: Received<AssistantBody>, facts: AssistantFacts): void {
  if (Object.keys(input.refused).length === 0) return
  assistantDecider.decide({ type: 'create', assistantId: 0, userId, ...input, facts, now: new Date().toISOString() }, assistantDecider.initialState)
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
