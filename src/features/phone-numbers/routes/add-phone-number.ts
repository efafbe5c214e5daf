// POST /user/phone-number
import Type from 'typebox'
import type { PhoneClaims } from '../../../commands/phone-claims.js'
import { idAt } from '../../../domain/decider.js'
import { PhoneNumberAnswer, PhoneNumberBody } from '../body.js'
import { phoneNumberDecider, type NumberState } from '../decide.js'
import { phoneNumberStream } from '../events.js'
import { soundBody } from '../../../domain/validation.js'
import type { App } from '../../../http/app-types.js'
import { command, type Handled, type HandleRoute, type Written } from '../../../http/command-route.js'
import { answered, example, invalid, writeHeaders } from '../../../http/docs/describe.js'
import { phoneNumber } from '../../../http/docs/examples.js'

export interface PhoneNumberDeps {
  handle: HandleRoute
  phoneClaims: PhoneClaims
}

const added = 'Phone number added successfully'
const Added = Type.Object({ message: Type.String(), data: PhoneNumberAnswer }, { title: 'PhoneNumberAnswer' })

const schema = {
  operationId: 'addPhoneNumber',
  summary: 'Add a phone number',
  description: 'A number is one user’s at a time. One that was released may be added again, by anybody.',
  tags: ['phone numbers'],
  security: [{ bearer: [] }],
  body: example(PhoneNumberBody, { phone_number: phoneNumber.phone_number }),
  response: {
    201: answered('The phone number.', Added, { message: added, data: phoneNumber }, ['ETag', ...writeHeaders]),
    422: invalid({ phone_number: ['is taken already'] })
  }
}

export function addPhoneNumber (app: App, { handle, phoneClaims }: PhoneNumberDeps): void {
  const options = command('user', 'Adding the phone number failed', 'Idempotency-Key')
  app.post('/user/phone-number', { schema, ...options }, (request, reply) => handle(request, reply.code(201), {
    body: PhoneNumberBody,
    validate: (submitted) => ({ type: 'add' as const, phone_number: soundBody(submitted, []).phone_number }),
    ids: () => ({ kind: 'phone_number', count: 1 }),
    first: async ({ phone_number }, ids, origin) => await phoneClaims.claim(
      { phone_number, phone_number_id: idAt(ids, 0), user_id: request.user.id }, origin),
    stream: (_body, ids) => phoneNumberStream(idAt(ids, 0)),
    isNew: true,
    decider: phoneNumberDecider,
    etag: true,
    answer: async (handled) => ({ message: added, data: await handled.readBack(addedNumber(handled)) })
  }))
}

function addedNumber (
  { state, body }: Handled<NumberState, object, { phone_number: string }>
): Written<PhoneNumberAnswer> {
  if (!state) throw new Error('a handled command left no phone number')
  const data = { id: state.phone_number_id, phone_number: body.phone_number }
  return { source: 'catalog', folded: () => data, read: async () => data }
}
