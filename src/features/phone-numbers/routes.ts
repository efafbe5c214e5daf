// POST /user/phone-number and DELETE /user/phone-number/{id}. The list of phone numbers is one of the catalogue.
import { idAt } from '../../domain/events.js'
import { soundBody } from '../../domain/rejection.js'
import { Message, pathId, phoneNumberPath } from '../../http/app-types.js'
import { command } from '../../http/command-route.js'
import { answered, example, invalid, refusal, withMessage, writeHeaders } from '../../http/docs/describe.js'
import { phoneNumber } from '../../http/docs/examples.js'
import { route } from '../route.js'
import { phoneNumberStream } from './events.js'
import { numberNotFound, phoneNumberDecider, PhoneNumberAnswer, PhoneNumberBody } from './model.js'

const tags = ['phone numbers']

const added = 'Phone number added successfully'
const addPhoneNumber = route('POST', '/user/phone-number', command('user', 'Adding the phone number failed', ['Idempotency-Key'], {
  tags,
  operationId: 'addPhoneNumber',
  summary: 'Add a phone number',
  description: 'A number is one user’s at a time. One that was released may be added again, by anybody.',
  body: example(PhoneNumberBody, { phone_number: phoneNumber.phone_number }),
  response: {
    201: withMessage('The phone number.', PhoneNumberAnswer, { message: added, data: phoneNumber }),
    422: invalid({ phone_number: ['is taken already'] })
  }
}), ({ handle, phoneClaims }) => (request, reply) => handle(request, reply.code(201), {
  body: PhoneNumberBody,
  validate: (submitted) => ({ type: 'add' as const, phone_number: soundBody(submitted, []).phone_number }),
  ids: () => ({ kind: 'phone_number', count: 1 }),
  first: async ({ phone_number }, ids, origin) => await phoneClaims.claim(
    { phone_number, phone_number_id: idAt(ids, 0), user_id: request.user.id }, origin),
  stream: (_body, ids) => phoneNumberStream(idAt(ids, 0)),
  isNew: true,
  decider: phoneNumberDecider,
  etag: true,
  async answer ({ state, body: { phone_number }, readBack }) {
    const data = { id: state.phone_number_id, phone_number }
    return { message: added, data: await readBack({ source: 'catalog', folded: () => data }) }
  }
}))

const released = 'Phone number released successfully'
const releasePhoneNumber = route('DELETE', '/user/phone-number/:id', command('user', 'Releasing the phone number failed', ['Idempotency-Key', 'If-Match'], {
  tags,
  operationId: 'releasePhoneNumber',
  summary: 'Release a phone number',
  description: 'Anybody may add it then. Assistants that were set to it answer phone_number_id null.',
  params: phoneNumberPath,
  response: {
    200: answered('It is released.', Message, { message: released }, writeHeaders), 404: refusal(numberNotFound().message)
  }
}), ({ handle, phoneClaims }) => (request, reply) => {
  const stream = phoneNumberStream(pathId(request.params.id, numberNotFound))
  return handle(request, reply, {
    validate: () => ({ type: 'release' as const }),
    stream: () => stream,
    isForOwner: true,
    decider: phoneNumberDecider,
    async answer ({ state, readBack }) {
      const { id: correlationId, user: { id: userId }, log } = request
      if (state.phone_number !== undefined) {
        const { phone_number, phone_number_id } = state
        // If this fails, the release still counts: the next claim finds that this one is over.
        await phoneClaims.free({ phone_number, phone_number_id }, { correlationId, userId })
          .catch((error: unknown) => log.warn({ err: error }, 'the claim of a released phone number was not freed'))
      }
      return await readBack({ source: 'catalog', folded: () => ({ message: released }) })
    }
  })
})

export const phoneNumberRoutes = [addPhoneNumber, releasePhoneNumber]
