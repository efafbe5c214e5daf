// The routes of the do-not-call list: users keep it, the call engine asks it.
import Type from 'typebox'
import { findBlacklist, findBlacklistStream } from '../../../projections/blacklist.js'
import { Id, isPhoneNumber, notE164 } from '../../domain/json.js'
import { invalid as refuse, soundBody } from '../../domain/rejection.js'
import { Message, blacklistPath, pathId } from '../../http/app-types.js'
import { only } from '../../http/auth.js'
import { command } from '../../http/command-route.js'
import { answered, example, invalid, One, refusal, withMessage, writeHeaders } from '../../http/docs/describe.js'
import { blacklistEntry } from '../../http/docs/examples.js'
import { beginningOf, earliest, numberSearch, updatedFrom } from '../../http/filters.js'
import { queryErrors } from '../../http/read-position.js'
import { list, route } from '../route.js'
import { BlacklistBody, blacklistDecider, describeEntry, EntryAnswer, entryNotFound } from './model.js'

const tags = ['do not call']

const listed = 'Phone number blacklisted successfully'
const entry = withMessage(
  'The entry: with 200 one that there was already, as it was.', EntryAnswer, { message: listed, data: blacklistEntry })

const addToBlacklist = route('POST', '/user/blacklist', command('user', 'Blacklisting the phone number failed', ['Idempotency-Key'], {
  tags,
  operationId: 'blacklistPhoneNumber',
  summary: 'Put a phone number on your do-not-call list',
  description: 'No lead or secondary contact may be created with it, and those that you have answer the status ' +
    'blacklisted until the entry is deleted.',
  body: example(BlacklistBody, { phone_number: blacklistEntry.phone_number, reason: blacklistEntry.reason }),
  response: { 200: entry, 201: entry, 422: invalid({ reason: ['must be at most 255 characters'] }) }
}), ({ handle, blacklists }) => (request, reply) => handle(request, reply, {
  body: BlacklistBody,
  validate (submitted) {
    const { phone_number, reason = null } = soundBody(submitted, [])
    return { type: 'add' as const, phone_number, reason }
  },
  ids: () => ({ kind: 'blacklist', count: 1 }),
  first: ({ phone_number }) => blacklists.note(blacklists.streamOf(request.user.id, phone_number)),
  stream: ({ phone_number }) => blacklists.streamOf(request.user.id, phone_number),
  isNew: true,
  decider: blacklistDecider,
  etag: true,
  async answer ({ state, ids, readBack }) {
    const data = describeEntry(state)
    reply.code(state.blacklist_id === ids[0] ? 201 : 200)
    // Reads show leads with the number as blacklisted from the same position on as they show the entry.
    return { message: listed, data: await readBack({ source: 'leads', folded: () => data }) }
  }
}))

const deleted = 'Blacklist entry deleted successfully'
const deleteFromBlacklist = route('DELETE', '/user/blacklist/:id', command('user', 'Blacklist entry deletion failed', ['Idempotency-Key', 'If-Match'], {
  tags,
  operationId: 'deleteBlacklistEntry',
  summary: 'Take a phone number off your do-not-call list',
  description: 'Leads and secondary contacts with the number have the status again that they had, or that calls ' +
    'reported meanwhile gave them.',
  params: blacklistPath,
  response: {
    200: answered('It is deleted.', Message, { message: deleted }, writeHeaders), 404: refusal(entryNotFound().message)
  }
}), ({ handle, positions, pool }) => (request, reply) => {
  const id = pathId(request.params.id, entryNotFound)
  return handle(request, reply, {
    /** Finds deleted entries too: a retried command needs the stream of its entry. */
    async facts () {
      const stream = await positions.orNotKnown('leads', () => findBlacklistStream(pool, request.user.id, id))
      if (stream === undefined) throw entryNotFound()
      return { stream }
    },
    validate: () => ({ type: 'delete' as const, blacklist_id: id }),
    stream: (_body, _ids, { stream = '' }) => stream,
    decider: blacklistDecider,
    answer: ({ readBack }) => readBack({ source: 'leads', folded: () => ({ message: deleted }) })
  })
})

const listBlacklist = list('/user/blacklist', {
  source: 'leads',
  perPage: 100,
  keys: ['whole'],
  item: EntryAnswer,
  example: blacklistEntry,
  filters: { ...numberSearch, ...updatedFrom },
  tags,
  operationId: 'listBlacklist',
  summary: 'List the phone numbers that you do not want called',
  description: 'Newest first.'
}, ({ pool }, page, { user, query: { search, updated_from } }) => findBlacklist(
  pool, { userId: user.id, searched: beginningOf(search), updatedFrom: earliest(updated_from) }, page))

const Listing = Type.Object({ blacklisted: Type.Boolean() }, { title: 'Listing' })

const isBlacklisted = route('GET', '/engine/blacklist/:phone_number', {
  schema: {
    tags: ['engine'],
    operationId: 'isBlacklisted',
    summary: 'Ask whether a phone number may be called',
    description: 'Before each call: whether the user of the assistant has it on their do-not-call list, as of now.',
    params: Type.Object({
      phone_number: Type.String({ description: 'In E.164 format.', examples: ['+15551230001'] })
    }),
    querystring: Type.Object({ assistant_id: Id({ description: 'The assistant that is to call.', examples: [1] }) }),
    response: {
      200: answered('Whether it is listed.', One(Listing), { data: { blacklisted: true } }),
      422: invalid({ assistant_id: ['must be an existing assistant'] }),
    }
  },
  attachValidation: true,
  onRequest: only('engine')
}, ({ ownerOf, blacklists }) => async (request) => {
  const { phone_number } = request.params
  const errors = { ...queryErrors(request), ...!isPhoneNumber(phone_number) && { phone_number: [notE164] } }
  if (Object.keys(errors).length > 0) throw refuse(errors)
  const owner = await ownerOf(request.query.assistant_id)
  if (owner === undefined) throw refuse({ assistant_id: ['must be an existing assistant'] })
  return { data: { blacklisted: (await blacklists.listed(owner, [phone_number])).size > 0 } }
})

export const blacklistCommands = [addToBlacklist, deleteFromBlacklist]
export const blacklistQueries = [listBlacklist, isBlacklisted]
