// POST /user/person/export
import { personRequestDecider } from '../decide.js'
import { personRequestStream } from '../events.js'
import { PersonBody } from '../summary.js'
import { Rejection } from '../../../domain/rejection.js'
import type { App } from '../../../http/app-types.js'
import { tokenCommand } from '../../../http/command-route.js'
import { answered, example, invalid, refusal, writeHeaders } from '../../../http/docs/describe.js'
import { begunExport, person } from '../../../http/docs/examples.js'
import { asked, Begun, begunOf, type PersonDeps } from './begin-request.js'

const started = 'Export started'
const tooMany = 'A hundred of your exports are being made or kept: try again later.'

const schema = {
  operationId: 'exportPerson',
  summary: 'Ask for a copy of what is known of a person',
  description: 'Of all of yours with this phone number, as one JSON document. One of your own phone numbers is no person. This ' +
    'needs a token, not a key.',
  tags: ['persons'],
  security: [{ bearer: [] }],
  body: example(PersonBody, person),
  response: {
    202: answered('It is being made.', Begun, { message: started, data: begunExport }, writeHeaders),
    422: invalid({ phone_number: ['must be a phone number in E.164 format, such as +15551230001'] }),
    429: refusal(tooMany)
  }
}

export function exportPerson (app: App, deps: PersonDeps): void {
  const { handle, notePersonRequest } = deps
  const options = tokenCommand('user', 'Starting the export failed', 'Idempotency-Key')
  app.post('/user/person/export', { schema, ...options }, (request, reply) => handle(request, reply.code(202), {
    body: PersonBody,
    ...asked('export', deps, request),
    async first ({ phone_number: phoneNumber }, _ids, { commandId: id }) {
      const isNoted = await notePersonRequest({ id, userId: request.user.id, phoneNumber })
      if (!isNoted) throw new Rejection('too-many', tooMany)
    },
    stream: (_body, _ids, _facts, commandId) => personRequestStream(commandId),
    isNew: true,
    decider: personRequestDecider,
    answer: (handled) => ({ message: started, data: begunOf(handled) })
  }))
}
