// POST /user/assistant
import { assistantDecider } from '../decide.js'
import { assistantStream } from '../events.js'
import { CreateAssistantBody } from '../bodies.js'
import { validateNewAssistant } from '../validate.js'
import { idAt } from '../../../domain/decider.js'
import type { App } from '../../../http/app-types.js'
import { command } from '../../../http/command-route.js'
import { example, invalid } from '../../../http/docs/describe.js'
import { newAssistant } from '../../../http/docs/examples.js'
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
    422: invalid({
      assistant_name: ['must be at most 255 characters'],
      voice_id: ['must be an available voice'],
      'post_call_schema.0.name': ['is required']
    })
  }
}

export function createAssistant (app: App, deps: AssistantDeps): void {
  const options = command('user', 'Assistant creation failed', 'Idempotency-Key')
  app.post('/user/assistant', { schema, ...options }, (request, reply) => deps.handle(request, reply.code(201), {
    body: CreateAssistantBody,
    facts: (body) => lookUpFacts(deps, request.user.id, body),
    validate: validateNewAssistant,
    ids: () => ({ kind: 'assistant', count: 1 }),
    stream: (_body, ids) => assistantStream(idAt(ids, 0)),
    isNew: true,
    decider: assistantDecider,
    etag: true,
    answer: (handled) => answerAssistant(deps, created, handled)
  }))
}
