// GET /engine/blacklist/{phone_number}
import Type from 'typebox'
import type { Blacklists } from '../../../commands/blacklist/blacklists.js'
import type { CallOwners } from '../../../commands/call-owners.js'
import { Id, isPhoneNumber, notE164 } from '../../../domain/json.js'
import { invalid } from '../../../domain/rejection.js'
import { ErrorAnswer, type App } from '../../../http/app-types.js'
import { only } from '../../../http/auth/auth.js'
import { answered, One, invalid as refused, refusal } from '../../../http/docs/describe.js'
import { queryErrors } from '../../../http/read-position.js'

export interface IsBlacklistedDeps {
  owners: CallOwners
  blacklists: Blacklists
}

const Listing = Type.Object({ blacklisted: Type.Boolean() }, { title: 'Listing' })

const schema = {
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
    200: answered(
      'Whether it is listed.', One(Listing),
      { data: { blacklisted: true } }
    ),
    401: ErrorAnswer,
    403: refusal('This needs a token with the role engine.'),
    422: refused({ assistant_id: ['must be an existing assistant'] }),
    503: ErrorAnswer
  }
}

export function isBlacklisted (app: App, { owners, blacklists }: IsBlacklistedDeps): void {
  const options = { schema, attachValidation: true, onRequest: only('engine') }
  app.get('/engine/blacklist/:phone_number', options, async (request) => {
    const { phone_number } = request.params
    const errors = { ...queryErrors(request), ...!isPhoneNumber(phone_number) && { phone_number: [notE164] } }
    if (Object.keys(errors).length > 0) throw invalid(errors)
    const owner = await owners.ofAssistant(request.query.assistant_id)
    if (owner === undefined) throw invalid({ assistant_id: ['must be an existing assistant'] })
    return { data: { blacklisted: (await blacklists.listed(owner, [phone_number])).size > 0 } }
  })
}
