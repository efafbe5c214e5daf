// POST /user/blacklist
import type { FastifyReply } from 'fastify'
import Type from 'typebox'
import type { Blacklists } from '../../../commands/blacklist/blacklists.js'
import { blacklistDecider, type EntryState } from '../decide.js'
import { BlacklistBody, EntryAnswer, describeEntry } from '../entry.js'
import { soundBody } from '../../../domain/validation.js'
import type { App } from '../../../http/app-types.js'
import { command, type Handled, type HandleRoute, type Written } from '../../../http/command-route.js'
import { answered, example, invalid, writeHeaders } from '../../../http/docs/describe.js'
import { blacklistEntry } from '../../../http/docs/examples.js'
import type { Facts } from '../../facts.js'

export interface BlacklistDeps {
  handle: HandleRoute
  facts: Facts
  blacklists: Blacklists
}

const listed = 'Phone number blacklisted successfully'
const Listed = Type.Object({ message: Type.String(), data: EntryAnswer }, { title: 'BlacklistEntryAnswer' })
const body = { message: listed, data: blacklistEntry }

const described = 'The entry: with 200 one that there was already, as it was.'

const schema = {
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

export function addToBlacklist (app: App, { handle, blacklists }: BlacklistDeps): void {
  const options = command('user', 'Blacklisting the phone number failed', 'Idempotency-Key')
  app.post('/user/blacklist', { schema, ...options }, (request, reply) => handle(request, reply, {
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
  const written: Written<EntryAnswer> = { source: 'leads', folded: () => data, read: async () => data }
  reply.code(state.blacklist_id === ids[0] ? 201 : 200)
  return { message: listed, data: await readBack(written) }
}
