// POST /user/person/erase
import { personRequestDecider } from '../decide.js'
import { personRequestStream } from '../events.js'
import { PersonBody } from '../summary.js'
import { Rejection } from '../../../domain/rejection.js'
import type { App } from '../../../http/app-types.js'
import { tokenCommand } from '../../../http/command-route.js'
import { answered, example, invalid, refusal, writeHeaders } from '../../../http/docs/describe.js'
import { begunErasure, person } from '../../../http/docs/examples.js'
import { asked, Begun, begunOf, type PersonDeps } from './begin-request.js'

const started = 'Erasure started'
const tooMany = 'A hundred of your erasures are under way: try again later.'

const schema = {
  operationId: 'erasePerson',
  summary: 'Erase a person',
  description: 'All of yours with this phone number, for good: leads and contacts are gone, calls keep what is not personal, webhooks ' +
    'their outcome. A do-not-call entry holds, without the number. One of your own phone numbers is no person. This needs a ' +
    'token, not a key.',
  tags: ['persons'],
  security: [{ bearer: [] }],
  body: example(PersonBody, person),
  response: {
    202: answered('It is under way.', Begun, { message: started, data: begunErasure }, writeHeaders),
    422: invalid({ phone_number: ['must be a phone number in E.164 format, such as +15551230001'] }),
    429: refusal(tooMany)
  }
}

export function erasePerson (app: App, deps: PersonDeps): void {
  const { handle, noteErasure, acceptErasure } = deps
  const options = tokenCommand('user', 'Starting the erasure failed', 'Idempotency-Key')
  app.post('/user/person/erase', { schema, ...options }, (request, reply) => handle(request, reply.code(202), {
    body: PersonBody,
    ...asked('erasure', deps, request),
    async first ({ phone_number: phoneNumber }, _ids, { commandId: id }) {
      const isNoted = await noteErasure({ id, userId: request.user.id, phoneNumber })
      if (!isNoted) throw new Rejection('too-many', tooMany)
    },
    stream: (_body, _ids, _facts, commandId) => personRequestStream(commandId),
    isNew: true,
    decider: personRequestDecider,
    async answer (handled) {
      const data = begunOf(handled)
      await acceptErasure(data.id).catch(() => {}) // its event is in the log: the reconciler makes up for it
      return { message: started, data }
    }
  }))
}
