// DELETE /user/blacklist/{id}
import Type from 'typebox'
import { blacklistDecider, entryNotFound } from '../decide.js'
import { Message, type App } from '../../../http/app-types.js'
import { command } from '../../../http/command-route.js'
import { answered, refusal, writeHeaders } from '../../../http/docs/describe.js'
import { blacklistPath, idIn } from '../../../http/path-id.js'
import { answerDeleted } from '../../answer-deleted.js'
import type { Facts } from '../../facts.js'
import type { BlacklistDeps } from './add-to-blacklist.js'

const deleted = 'Blacklist entry deleted successfully'

const schema = {
  operationId: 'deleteBlacklistEntry',
  summary: 'Take a phone number off your do-not-call list',
  description: 'Leads and secondary contacts with the number have the status again that they had, or that calls ' +
    'reported meanwhile gave them.',
  tags: ['do not call'],
  security: [{ bearer: [] }],
  params: blacklistPath,
  response: {
    200: answered('It is deleted.', Message, { message: deleted }, writeHeaders),
    404: refusal('Blacklist entry not found or does not belong to the authenticated user')
  }
}

export function deleteFromBlacklist (app: App, { handle, facts }: BlacklistDeps): void {
  const options = command('user', 'Blacklist entry deletion failed', 'Idempotency-Key', 'If-Match')
  app.delete('/user/blacklist/:id', { schema, ...options }, async (request, reply) => {
    const id = idIn(request.params.id)
    if (id === undefined) throw entryNotFound()
    return await handle(request, reply, {
      body: Type.Object({}),
      facts: () => lookUpEntry(facts, request.user.id, id),
      validate: () => ({ type: 'delete' as const, blacklist_id: id }),
      stream: (_body, _ids, { stream = '' }) => stream,
      decider: blacklistDecider,
      answer: (handled) => answerDeleted(deleted, 'leads', handled)
    })
  })
}

/** Also one that was deleted: what was answered under a key is answered again. */
async function lookUpEntry (facts: Facts, userId: string, id: number): Promise<{ stream: string }> {
  const stream = await facts.blacklistStream(userId, id)
  if (stream === undefined) throw entryNotFound()
  return { stream }
}
