// DELETE /user/lead/{id}
import Type from 'typebox'
import { oneLeadDecider } from '../change.js'
import { Message, type App } from '../../../http/app-types.js'
import { command } from '../../../http/command-route.js'
import { answered, refusal, writeHeaders } from '../../../http/docs/describe.js'
import { leadPath } from '../../../http/path-id.js'
import { answerDeleted } from '../../answer-deleted.js'
import { etagBefore, leadIdIn, lookUpLead, type LeadDeps } from './lead-command.js'

const deleted = 'Lead deleted successfully'

const schema = {
  operationId: 'deleteLead',
  summary: 'Delete a lead',
  description: 'With its secondary contacts. Its phone number may be created again in the campaign.',
  tags: ['leads'],
  security: [{ bearer: [] }],
  params: leadPath,
  response: {
    200: answered('It is deleted.', Message, { message: deleted }, writeHeaders),
    404: refusal('Lead not found or does not belong to the authenticated user')
  }
}

export function deleteLead (app: App, deps: LeadDeps): void {
  const options = command('user', 'Lead deletion failed', 'Idempotency-Key', 'If-Match')
  app.delete('/user/lead/:id', { schema, ...options }, async (request, reply) => {
    const id = leadIdIn(request.params.id)
    return await deps.handle(request, reply, {
      body: Type.Object({}),
      facts: () => lookUpLead(deps, request.user.id, id),
      validate: () => ({ type: 'delete' as const }),
      stream: (_body, _ids, { stream = '' }) => stream,
      decider: oneLeadDecider(id),
      etagBefore,
      answer: (handled) => answerDeleted(deleted, 'leads', handled)
    })
  })
}
