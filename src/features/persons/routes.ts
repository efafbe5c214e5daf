// The routes of persons: a user asks for a copy, or for an erasure, and for what became of it.
import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import Type, { type Static } from 'typebox'
import { acceptRequest, progressOf } from '../../../workers/work/requests.js'
import { preparePersonRequest } from '../../../workers/persons/erasure-rows.js'
import { hasExport, readExport } from '../../../workers/persons/exports.js'
import { findOwnRequest, findRequest } from '../../commands/person-requests.js'
import { Rejection, problem, soundBody, type Submitted } from '../../domain/rejection.js'
import { type App, ErrorAnswer, personRequestPath } from '../../http/app-types.js'
import { only } from '../../http/auth.js'
import { type Handled, tokenCommand } from '../../http/command-route.js'
import { answered, example, fileName, invalid, One, writeHeaders } from '../../http/docs/describe.js'
import { begunErasure, begunExport, exportedPerson, person, personRequest } from '../../http/docs/examples.js'
import type { ApiServices } from '../../services/services.js'
import { personRequestStream, type PersonRequestType } from './events.js'
import {
  BegunPersonRequest, describeBegun, describePersonRequest, isKept, ownNumber, PersonBody, type PersonRequest,
  PersonRequestAnswer, personRequestDecider, personRequestNotFound, type PersonRequestState
} from './model.js'

const Begun = Type.Object(
  { message: Type.String(), data: BegunPersonRequest }, { title: 'BegunPersonRequestAnswer' })

interface AskedFacts { isOwn: boolean }

/** What both look up and check: a number of the user's own stands in every call, of whomever. */
function asked (
  kind: PersonRequestType, { phoneHash, phoneClaims }: ApiServices,
  { id: correlationId, user }: { id: string, user: { id: string } }
) {
  return {
    async facts ({ phone_number: number }: Partial<Static<typeof PersonBody>>): Promise<AskedFacts> {
      const cause = { correlationId, userId: user.id }
      return { isOwn: number !== undefined && await phoneClaims.isOwn(user.id, number, cause) }
    },
    validate (submitted: Submitted<Static<typeof PersonBody>>, { isOwn }: Partial<AskedFacts>) {
      const { phone_number: number } = soundBody(submitted, [isOwn === true && problem('phone_number', ownNumber)])
      return { type: 'request' as const, kind, number_digest: phoneHash(number) }
    }
  }
}

function begunOf ({ state }: Handled<PersonRequestState>): BegunPersonRequest {
  if (!state) throw new Error('a handled command left no request')
  return describeBegun(state)
}

const exportStarted = 'Export started'
const tooManyExports = 'A hundred of your exports are being made or kept: try again later.'

const exportPersonSchema = {
  operationId: 'exportPerson',
  summary: 'Ask for a copy of what is known of a person',
  description: 'Writes one JSON document with all that you have about this phone number. One of your own phone numbers is no person. This ' +
    'needs a token, not a key.',
  tags: ['persons'],
  security: [{ bearer: [] }],
  body: example(PersonBody, person),
  response: {
    202: answered('It is being made.', Begun, { message: exportStarted, data: begunExport }, writeHeaders),
    422: invalid({ phone_number: ['must be a phone number in E.164 format, such as +15551230001'] }),
  }
}

/** Where its row is gone already, a retry whose answer was lost must not begin it anew. */
const hasEnded = async ({ streams }: ApiServices, id: string) =>
  typeof (await findRequest(streams, id))?.request.finished_at === 'string'

interface PersonCommand {
  path: string
  schema: typeof exportPersonSchema | typeof erasePersonSchema
  failed: string
  started: string
  tooMany: string
}

function askFor (
  kind: PersonRequestType, { path, schema, failed, started, tooMany }: PersonCommand,
  app: App, services: ApiServices
): void {
  const { handle, pool, keys } = services
  const options = { schema, ...tokenCommand('user', failed, 'Idempotency-Key') }
  app.post(path, options, (request, reply) => handle(request, reply.code(202), {
    body: PersonBody,
    ...asked(kind, services, request),
    async first ({ phone_number: phoneNumber }, _ids, { commandId: id }) {
      const asked = { id, userId: request.user.id, phoneNumber }
      const isTaken = await hasEnded(services, id) || await preparePersonRequest(pool, keys, kind, asked)
      if (!isTaken) throw new Rejection('too-many', tooMany)
    },
    stream: (_body, _ids, _facts, commandId) => personRequestStream(commandId),
    isNew: true,
    decider: personRequestDecider,
    async answer (handled) {
      const data = begunOf(handled)
      await acceptRequest(pool, data.id).catch(() => {}) // its event is in the log: the tidying makes up for it
      return { message: started, data }
    }
  }))
}

export const exportPerson = (app: App, services: ApiServices) => askFor('export', {
  path: '/user/person/export',
  schema: exportPersonSchema,
  failed: 'Starting the export failed',
  started: exportStarted,
  tooMany: tooManyExports
}, app, services)

const erasureStarted = 'Erasure started'
const tooManyErasures = 'A hundred of your erasures are under way: try again later.'

const erasePersonSchema = {
  operationId: 'erasePerson',
  summary: 'Erase a person',
  description: 'All of yours with this phone number, for good: leads and contacts are gone, calls keep what is not personal, webhooks ' +
    'their outcome. A do-not-call entry holds, without the number. One of your own phone numbers is no person. This needs a ' +
    'token, not a key.',
  tags: ['persons'],
  security: [{ bearer: [] }],
  body: example(PersonBody, person),
  response: {
    202: answered('It is under way.', Begun, { message: erasureStarted, data: begunErasure }, writeHeaders),
    422: invalid({ phone_number: ['must be a phone number in E.164 format, such as +15551230001'] }),
  }
}

export const erasePerson = (app: App, services: ApiServices) => askFor('erasure', {
  path: '/user/person/erase',
  schema: erasePersonSchema,
  failed: 'Starting the erasure failed',
  started: erasureStarted,
  tooMany: tooManyErasures
}, app, services)

const getPersonRequestSchema = {
  operationId: 'getPersonRequest',
  summary: 'What became of a request for the data of a person',
  description: 'As the log has it, without an X-Read-Position. This needs a token, not a key.',
  tags: ['persons'],
  security: [{ bearer: [] }],
  params: personRequestPath,
  response: {
    200: answered('The request.', One(PersonRequestAnswer), { data: personRequest }),
    404: ErrorAnswer
  }
}

/** The user's request as the log has it, or nothing when there is none. */
const findOwn = ({ pool, streams }: ApiServices, userId: string, id: string) => findOwnRequest({
  streams, noted: (id) => progressOf<{ waits_for?: string }>(pool, id)
}, userId, id)

export function getPersonRequest (app: App, services: ApiServices): void {
  const options = { schema: getPersonRequestSchema, onRequest: only('user'), config: { isClosedToKeys: true } }
  app.get('/user/person-request/:id', options, async (request, reply) => {
    await app.acquireReadSlot('item', request, reply)
    const found = await findOwn(services, request.user.id, request.params.id)
    if (!found) throw personRequestNotFound()
    return { data: describePersonRequest(found) }
  })
}

const notYet = 'The export is being made: try again in a moment.'
const over = 'There is no export, or none any more: ask for another one.'

const downloadPersonSchema = {
  operationId: 'downloadPerson',
  summary: 'The copy of what is known of a person',
  description: 'For 24 hours after the request was completed. This needs a token, not a key.',
  tags: ['persons'],
  security: [{ bearer: [] }],
  params: personRequestPath,
  response: {
    200: {
      'x-response-description': 'One JSON document.',
      headers: fileName('person', 'json'),
      content: { 'application/json': { schema: Type.Object({}, { title: 'ExportedPerson' }), example: exportedPerson } }
    },
    404: ErrorAnswer,
  }
}

export function downloadPerson (app: App, services: ApiServices): void {
  const options = { schema: downloadPersonSchema, onRequest: only('user'), config: { isClosedToKeys: true } }
  app.get('/user/person-request/:id/download', options, async (request, reply) => {
    await app.acquireReadSlot('export', request, reply)
    const { method, user, params: { id } } = request
    refuseUnlessMade(await findOwn(services, user.id, id))
    const place = { userId: user.id, id }
    if (!await hasExport(services.pool, place)) throw new Rejection('gone', over)
    const asFile: FastifyReply = reply.type('application/json; charset=utf-8')
      .header('content-disposition', 'attachment; filename="person.json"')
    return await asFile.send(Readable.from(method === 'HEAD' ? [] : readExport(services.pool, services.keys, place)))
  })
}

/** An erasure has nothing to download. */
function refuseUnlessMade (request: PersonRequest | undefined): void {
  if (request?.type !== 'export') throw personRequestNotFound()
  if (request.status === 'processing') throw new Rejection('not-ready', notYet)
  if (request.status === 'failed' || !isKept(request, Date.now())) throw new Rejection('gone', over)
}
