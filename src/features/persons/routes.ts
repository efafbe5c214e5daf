// The routes of persons: a user asks for a copy, or for an erasure, and for what became of it.
import { once } from 'node:events'
import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import Type from 'typebox'
import { acceptRequest, progressOf } from '../../../workers/work/requests.js'
import { preparePersonRequest } from '../../../workers/persons/erasure-rows.js'
import { readExport } from '../../../workers/persons/exports.js'
import { findRequest } from '../../commands/person-requests.js'
import { isUuid } from '../../domain/json.js'
import { Rejection, problem, soundBody } from '../../domain/rejection.js'
import { ErrorAnswer, personRequestPath } from '../../http/app-types.js'
import { command } from '../../http/command-route.js'
import { answered, example, fileName, invalid, One, withMessage, writeHeaders } from '../../http/docs/describe.js'
import { begunErasure, begunExport, exportedPerson, person, personRequest } from '../../http/docs/examples.js'
import type { ApiServices } from '../../services/services.js'
import { readingNow } from '../../http/read-position.js'
import { route } from '../route.js'
import { personRequestStream, type PersonRequestType } from './events.js'
import {
  BegunPersonRequest, describeBegun, describePersonRequest, exportGone, isKept, ownNumber, PersonBody,
  type PersonRequest, PersonRequestAnswer, personRequestDecider, personRequestNotFound
} from './model.js'

const tags = ['persons']

/** The row of an ended request may be gone. A retry whose answer was lost must not begin it again. */
const hasEnded = async ({ streams }: ApiServices, id: string) =>
  typeof (await findRequest(streams, id))?.request.finished_at === 'string'

type Words = Record<'operationId' | 'summary' | 'description' | 'begun' | 'started' | 'failed' | 'tooMany', string>

/**
 * Refuses the user's own numbers: they are no person, and stand in every call. A 202 is `begun` in the document and
 * `started` in the answer.
 */
const asking = (
  kind: PersonRequestType, path: string, { begun, started, failed, tooMany, ...described }: Words,
  data: BegunPersonRequest
) => route('POST', path, command('user', failed, ['Idempotency-Key'], {
  ...described,
  tags,
  body: example(PersonBody, person),
  response: {
    202: withMessage(begun, BegunPersonRequest, { message: started, data }, writeHeaders),
    422: invalid({ phone_number: ['must be a phone number in E.164 format, such as +15551230001'] }),
  }
}, { isClosedToKeys: true }), (services) => (request, reply) => services.handle(request, reply.code(202), {
  body: PersonBody,
  async facts ({ phone_number: number }) {
    const cause = { correlationId: request.id, userId: request.user.id }
    return { isOwn: number !== undefined && await services.phoneClaims.isOwn(cause.userId, number, cause) }
  },
  validate (submitted, { isOwn }) {
    const { phone_number: number } = soundBody(submitted, [isOwn === true && problem('phone_number', ownNumber)])
    return { type: 'request' as const, kind, number_digest: services.phoneHash(number) }
  },
  async first ({ phone_number: phoneNumber }, _ids, { commandId: id }) {
    const asked = { id, userId: request.user.id, phoneNumber }
    const { pool, keys } = services
    const isTaken = await hasEnded(services, id) || await preparePersonRequest(pool, keys, kind, asked)
    if (!isTaken) throw new Rejection('too-many', tooMany)
  },
  stream: (_body, _ids, _facts, commandId) => personRequestStream(commandId),
  isNew: true,
  decider: personRequestDecider,
  async answer ({ state }) {
    const data = describeBegun(state)
    await acceptRequest(services.pool, data.id).catch(() => {}) // its event is in the log: the tidying catches up
    return { message: started, data }
  }
}))

const exportPerson = asking('export', '/user/person/export', {
  operationId: 'exportPerson',
  summary: 'Ask for a copy of what is known of a person',
  description: 'Writes one JSON document with all that you have about this phone number. One of your own phone numbers is no person. This ' +
    'needs a token, not a key.',
  begun: 'It is being made.',
  started: 'Export started',
  failed: 'Starting the export failed',
  tooMany: 'A hundred of your exports are being made or kept: try again later.'
}, begunExport)

const erasePerson = asking('erasure', '/user/person/erase', {
  operationId: 'erasePerson',
  summary: 'Erase a person',
  description: 'All of yours with this phone number, for good: leads and contacts are gone, calls keep what is not personal, webhooks ' +
    'their outcome. A do-not-call entry holds, without the number. One of your own phone numbers is no person. This needs a ' +
    'token, not a key.',
  begun: 'It is under way.',
  started: 'Erasure started',
  failed: 'Starting the erasure failed',
  tooMany: 'A hundred of your erasures are under way: try again later.'
}, begunErasure)

/** After this, a request without a row is lost: its database was restored or replaced. */
const surelyNotedAfterMs = 60_000

/**
 * The user's request as the log has it. One that has not ended and has no row has failed. Reads the row first, because
 * workers delete it once the end is in the log.
 * @throws Rejection `not-found`
 */
async function own ({ pool, streams }: ApiServices, userId: string, id: string): Promise<PersonRequest> {
  const row = isUuid(id) ? await progressOf<{ waits_for?: string }>(pool, id) : undefined
  const { request } = await findRequest(streams, id) ?? {}
  if (request?.user_id !== userId) throw personRequestNotFound()
  if (request.status !== 'processing') return request
  if (row) return { ...request, waits_for: row.waits_for }
  const isLost = Date.now() > Date.parse(request.requested_at) + surelyNotedAfterMs
  return isLost ? { ...request, status: 'failed' } : request
}

const getPersonRequest = route('GET', '/user/person-request/:id', readingNow({
  tags,
  operationId: 'getPersonRequest',
  summary: 'What became of a request for the data of a person',
  description: 'As the log has it, without an X-Read-Position. This needs a token, not a key.',
  params: personRequestPath,
  response: { 200: answered('The request.', One(PersonRequestAnswer), { data: personRequest }), 404: ErrorAnswer }
}, { isClosedToKeys: true }), (services) => async ({ user, params }) =>
  ({ data: describePersonRequest(await own(services, user.id, params.id)) }))

const downloadPerson = route('GET', '/user/person-request/:id/download', readingNow({
  tags,
  operationId: 'downloadPerson',
  summary: 'The copy of what is known of a person',
  description: 'For 24 hours after the request was completed. This needs a token, not a key.',
  params: personRequestPath,
  response: {
    200: {
      'x-response-description': 'One JSON document.',
      headers: fileName('person', 'json'),
      content: { 'application/json': { schema: Type.Object({}, { title: 'ExportedPerson' }), example: exportedPerson } }
    },
    404: ErrorAnswer,
  }
}, { isClosedToKeys: true }, 'export'), (services) => async ({ method, user, params: { id } }, reply) => {
  const asked = await own(services, user.id, id)
  if (asked.type !== 'export') throw personRequestNotFound() // an erasure has nothing to download
  if (asked.status === 'processing') throw new Rejection('not-ready', 'The export is being made: try again in a moment.')
  if (asked.status === 'failed' || !isKept(asked, Date.now())) throw exportGone()
  const document = Readable.from(readExport(services.pool, services.keys, { userId: user.id, id }))
  await once(document, 'readable') // so that an error before its first part is an answer like any other
  const asFile: FastifyReply = reply.type('application/json; charset=utf-8')
    .header('content-disposition', 'attachment; filename="person.json"')
  return await asFile.send(method === 'HEAD' ? Readable.from([]) : document)
})

export const personCommands = [exportPerson, erasePerson]
export const personQueries = [getPersonRequest, downloadPerson]
