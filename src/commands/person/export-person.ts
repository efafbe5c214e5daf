// POST /user/person/export
import Type, { type Static } from 'typebox'
import type { PhoneHash } from '../../command-handling/phone-hash.js'
import { personRequestDecider, type PersonRequestState } from '../../domain/person/decide.js'
import { personRequestStream, type PersonRequestType } from '../../domain/person/events.js'
import { BegunPersonRequest, describeBegun, PersonBody } from '../../domain/person/summary.js'
import { Rejection } from '../../domain/rejection.js'
import { soundBody, type Submitted } from '../../domain/validation.js'
import type { App } from '../../http/app-types.js'
import { command, type Handled, type HandleRoute } from '../../http/command-route.js'
import { answered, example, invalid, refusal, writeHeaders } from '../../http/docs/describe.js'
import { begunExport, person } from '../../http/docs/person-examples.js'

export interface PersonDeps {
  handle: HandleRoute
  phoneHash: PhoneHash
  /** Keeps what is asked for, for the workers; false when the user has asked for so much that no more is taken. */
  notePersonRequest (request: { id: string, userId: string, phoneNumber: string }): Promise<boolean>
}

const started = 'Export started'
const tooMany = 'A hundred of your exports are being made or kept: try again later.'
const Begun = Type.Object({ message: Type.String(), data: BegunPersonRequest }, { title: 'BegunPersonRequestAnswer' })

const schema = {
  operationId: 'exportPerson',
  summary: 'Ask for a copy of what is known of a person',
  description: 'Of all of yours with this phone number, as one JSON document. This needs a token, not a key.',
  tags: ['persons'],
  security: [{ bearer: [] }],
  body: example(PersonBody, person),
  response: {
    202: answered('It is being made.', Begun, { message: started, data: begunExport }, writeHeaders),
    409: refusal(tooMany),
    422: invalid({ phone_number: ['must be a phone number in E.164 format, such as +15551230001'] })
  }
}

export function exportPerson (app: App, { handle, phoneHash, notePersonRequest }: PersonDeps): void {
  const { config, ...options } = command('user', 'Starting the export failed', 'Idempotency-Key')
  const forTokens = { ...options, config: { ...config, isClosedToKeys: true } }
  app.post('/user/person/export', { schema, ...forTokens }, (request, reply) => handle(request, reply.code(202), {
    body: PersonBody,
    facts: async () => ({}),
    validate: (submitted) => asked('export', submitted, phoneHash),
    async first ({ phone_number: phoneNumber }, _ids, { commandId: id }) {
      const isNoted = await notePersonRequest({ id, userId: request.user.id, phoneNumber })
      if (!isNoted) throw new Rejection('not-ready', tooMany)
    },
    stream: (_body, _ids, _facts, commandId) => personRequestStream(commandId),
    isNew: true,
    decider: personRequestDecider,
    answer: (handled) => ({ message: started, data: begunOf(handled) })
  }))
}

function asked (kind: PersonRequestType, submitted: Submitted<Static<typeof PersonBody>>, digest: PhoneHash) {
  return { type: 'request' as const, kind, number_digest: digest(soundBody(submitted, []).phone_number) }
}

function begunOf ({ state }: Handled<PersonRequestState>): BegunPersonRequest {
  if (!state) throw new Error('a handled command left no request')
  return describeBegun(state)
}
