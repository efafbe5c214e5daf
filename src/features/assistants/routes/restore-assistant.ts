// POST /user/assistant/{id}/restore
import { assistantDecider } from '../decide.js'
import { assistantStream } from '../events.js'
import { RestoreAssistantBody, UpdateAssistantBody } from '../bodies.js'
import { validateRestore, type PastFacts } from '../validate.js'
import type { App } from '../../../http/app-types.js'
import { command } from '../../../http/command-route.js'
import { example, invalid, refusal } from '../../../http/docs/describe.js'
import { refusedBy } from '../../../http/input/compilers.js'
import { assistantPath } from '../../../http/path-id.js'
import {
  answerAssistant, assistantAnswer, assistantIdIn, lookUpFacts, type AssistantDeps
} from './assistant-command.js'

const updated = 'Assistant updated successfully'

const schema = {
  operationId: 'restoreAssistant',
  summary: 'Restore the settings of a past revision',
  description: 'An update with what differs from them; its status stays. What is set anew is held to the rules of ' +
    'today. A phone number that you released is a 422 on phone_number_id, unless `without_phone_number` is true.',
  tags: ['assistants'],
  security: [{ bearer: [] }],
  params: assistantPath,
  body: example(RestoreAssistantBody, { revision: 0 }),
  response: {
    200: assistantAnswer(updated),
    404: refusal('Assistant not found or does not belong to the authenticated user'),
    422: invalid({ voice_id: ['must be an available voice'], phone_number_id: ['must be one of your phone numbers'] })
  }
}

export function restoreAssistant (app: App, deps: AssistantDeps): void {
  const options = command('user', 'Assistant restore failed', 'Idempotency-Key', 'If-Match')
  app.post('/user/assistant/:id/restore', { schema, ...options }, async (request, reply) => {
    const id = assistantIdIn(request.params.id)
    return await deps.handle(request, reply, {
      body: RestoreAssistantBody,
      facts: (body) => lookUpPast(deps, request.user.id, id, body),
      validate: validateRestore,
      stream: () => assistantStream(id),
      isForOwner: true,
      decider: assistantDecider,
      etag: true,
      answer: (handled) => answerAssistant(deps, updated, handled)
    })
  })
}

const refusedToday = refusedBy(UpdateAssistantBody)

/** @throws NotKnownYet */
async function lookUpPast (
  deps: AssistantDeps, userId: string, id: number, { revision, without_phone_number }: Partial<RestoreAssistantBody>
): Promise<PastFacts> {
  const found = revision === undefined ? undefined : await deps.facts.assistantAt(userId, id, revision)
  const past = found && { ...found.settings, ...without_phone_number && { phone_number_id: null } }
  return past ? { past, refused: refusedToday(past), ...await lookUpFacts(deps, userId, past) } : {}
}
