// DELETE /user/assistant/{id}
import Type from 'typebox'
import { assistantDecider } from '../decide.js'
import { assistantStream } from '../events.js'
import { Message, type App } from '../../../http/app-types.js'
import { command } from '../../../http/command-route.js'
import { answered, refusal, writeHeaders } from '../../../http/docs/describe.js'
import { assistantPath } from '../../../http/path-id.js'
import { assistantIdIn, type AssistantDeps } from './assistant-command.js'

const deleted = 'Assistant deleted successfully'

const schema = {
  operationId: 'deleteAssistant',
  summary: 'Delete an assistant',
  description: 'It is not found any more. Calls of it that are reported later are recorded, and their webhooks sent as ' +
    'its settings said.',
  tags: ['assistants'],
  security: [{ bearer: [] }],
  params: assistantPath,
  response: {
    200: answered('It is deleted.', Message, { message: deleted }, writeHeaders),
    404: refusal('Assistant not found or does not belong to the authenticated user')
  }
}

export function deleteAssistant (app: App, { handle }: AssistantDeps): void {
  const options = command('user', 'Assistant deletion failed', 'Idempotency-Key', 'If-Match')
  app.delete('/user/assistant/:id', { schema, ...options }, async (request, reply) => {
    const id = assistantIdIn(request.params.id)
    return await handle(request, reply, {
      body: Type.Object({}),
      validate: () => ({ type: 'delete' as const }),
      stream: () => assistantStream(id),
      isForOwner: true,
      decider: assistantDecider,
      answer: ({ readBack }) => readBack({ source: 'assistants', folded: () => ({ message: deleted }) })
    })
  })
}
