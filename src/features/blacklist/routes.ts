// The routes of the do-not-call list: users keep it, the call engine asks it.
import type { FastifyReply } from 'fastify'
import Type from 'typebox'
import { findBlacklist, findBlacklistStream } from '../../../projections/blacklist.js'
import { Id, isPhoneNumber, notE164 } from '../../domain/json.js'
import { invalid as refuse, soundBody } from '../../domain/rejection.js'
import { type App, Message, blacklistPath, pathId } from '../../http/app-types.js'
import { only } from '../../http/auth.js'
import { command, type Handled } from '../../http/command-route.js'
import { answered, example, invalid, One, refusal, writeHeaders } from '../../http/docs/describe.js'
import { blacklistEntry, page } from '../../http/docs/examples.js'
import { beginningOf, earliest, numberSearch, updatedFrom } from '../../http/filters.js'
import { PageOf, Paging } from '../../http/lists.js'
import { queryErrors, readErrors, readHeaders, reading } from '../../http/read-position.js'
import type { ApiServices } from '../../services/services.js'
import { BlacklistBody, blacklistDecider, describeEntry, EntryAnswer, entryNotFound, type EntryState } from './model.js'

const listed = 'Phone number blacklisted successfully'
const Listed = Type.Object({ message: Type.String(), data: EntryAnswer }, { title: 'BlacklistEntryAnswer' })
const body = { message: listed, data: blacklistEntry }

const described = 'The entry: with 200 one that there was already, as it was.'

const addToBlacklistSchema = {
  operationId: 'blacklistPhoneNumber',
  summary: 'Put a phone number on your do-not-call list',
  description: 'No lead or secondary contact may be created with it, and those that you have answer the status ' +
    'blacklisted until the entry is deleted.',
  tags: ['do not call'],
  security: [{ bearer: [] }],
  body: example(BlacklistBody, { phone_number: blacklistEntry.phone_number, reason: blacklistEntry.reason }),
  response: {
    200: answered(described, Listed, body, ['ETag', ...writeHeaders]),
    201: answered(described, Listed, body, ['ETag', ...writeHeaders]),
    422: invalid({ reason: ['must be at most 255 characters'] })
  }
}

export function addToBlacklist (app: App, { handle, blacklists }: ApiServices): void {
  const options = command('user', 'Blacklisting the phone number failed', 'Idempotency-Key')
  app.post('/user/blacklist', { schema: addToBlacklistSchema, ...options }, (request, reply) => handle(request, reply, {
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
    answer: (handled) => answerListed(handled, reply)
  }))
}

/** Reads show leads with the number as blacklisted from the same position on as they show the entry. */
async function answerListed ({ state, ids, readBack }: Handled<EntryState>, reply: FastifyReply) {
  if (!state) throw new Error('a handled command left no entry')
  const data = describeEntry(state)
  reply.code(state.blacklist_id === ids[0] ? 201 : 200)
  return { message: listed, data: await readBack({ source: 'leads', folded: () => data, read: async () => data }) }
}

const deleted = 'Blacklist entry deleted successfully'

const deleteFromBlacklistSchema = {
  operationId: 'deleteBlacklistEntry',
  summary: 'Take a phone number off your do-not-call list',
  description: 'Leads and secondary contacts with the number have the status again that they had, or that calls ' +
    'reported meanwhile gave them.',
  tags: ['do not call'],
  security: [{ bearer: [] }],
  params: blacklistPath,
  response: {
    200: answered('It is deleted.', Message, { message: deleted }, writeHeaders),
    404: refusal(entryNotFound().message)
  }
}

export function deleteFromBlacklist (app: App, { handle, positions, pool }: ApiServices): void {
  const options = command('user', 'Blacklist entry deletion failed', 'Idempotency-Key', 'If-Match')
  app.delete('/user/blacklist/:id', { schema: deleteFromBlacklistSchema, ...options }, async (request, reply) => {
    const id = pathId(request.params.id, entryNotFound)
    return await handle(request, reply, {
      body: Type.Object({}),
      /** Also one that was deleted: what was answered under a key is answered again. */
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
}

const paging = new Paging('blacklist', 100, ['whole'])

const listBlacklistSchema = {
  operationId: 'listBlacklist',
  summary: 'List the phone numbers that you do not want called',
  description: 'Newest first.',
  tags: ['do not call'],
  security: [{ bearer: [] }],
  headers: readHeaders,
  querystring: Type.Object({ ...numberSearch, ...updatedFrom, ...paging.parameters }),
  response: {
    200: answered('The page that was asked for.', PageOf(EntryAnswer), page(100, blacklistEntry)), ...readErrors
  }
}

export function listBlacklist (app: App, { pool, positions }: ApiServices): void {
  const options = { schema: listBlacklistSchema, ...reading('leads', positions, paging) }
  app.get('/user/blacklist', options, async ({ user, query }) => {
    const { search, updated_from } = query
    const filter = { userId: user.id, searched: beginningOf(search), updatedFrom: earliest(updated_from) }
    return paging.answer(query, await findBlacklist(pool, filter, paging.requested(query)))
  })
}

const Listing = Type.Object({ blacklisted: Type.Boolean() }, { title: 'Listing' })

const isBlacklistedSchema = {
  operationId: 'isBlacklisted',
  summary: 'Ask whether a phone number may be called',
  description: 'Before each call: whether the user of the assistant has it on their do-not-call list, as of now.',
  tags: ['engine'],
  security: [{ bearer: [] }],
  params: Type.Object({
    phone_number: Type.String({ description: 'In E.164 format.', examples: ['+15551230001'] })
  }),
  querystring: Type.Object({ assistant_id: Id({ description: 'The assistant that is to call.', examples: [1] }) }),
  response: {
    200: answered('Whether it is listed.', One(Listing), { data: { blacklisted: true } }),
    422: invalid({ assistant_id: ['must be an existing assistant'] }),
  }
}

export function isBlacklisted (app: App, { ownerOf, blacklists }: ApiServices): void {
  const options = { schema: isBlacklistedSchema, attachValidation: true, onRequest: only('engine') }
  app.get('/engine/blacklist/:phone_number', options, async (request) => {
    const { phone_number } = request.params
    const errors = { ...queryErrors(request), ...!isPhoneNumber(phone_number) && { phone_number: [notE164] } }
    if (Object.keys(errors).length > 0) throw refuse(errors)
    const owner = await ownerOf(request.query.assistant_id)
    if (owner === undefined) throw refuse({ assistant_id: ['must be an existing assistant'] })
    return { data: { blacklisted: (await blacklists.listed(owner, [phone_number])).size > 0 } }
  })
}
