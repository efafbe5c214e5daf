// POST /user/phone-number and DELETE /user/phone-number/{id}. The list of phone numbers is one of the catalogue.
import type { FastifyBaseLogger } from 'fastify'
import Type from 'typebox'
import type { PhoneClaims } from '../../commands/phone-numbers.js'
import { idAt } from '../../domain/decider.js'
import { soundBody } from '../../domain/rejection.js'
import { Message, type App, pathId, phoneNumberPath } from '../../http/app-types.js'
import { command } from '../../http/command-route.js'
import { answered, example, invalid, refusal, writeHeaders } from '../../http/docs/describe.js'
import { phoneNumber } from '../../http/docs/examples.js'
import type { ApiServices } from '../../services/services.js'
import { phoneNumberStream } from './events.js'
import { numberNotFound, phoneNumberDecider, PhoneNumberAnswer, PhoneNumberBody, type NumberState } from './model.js'

const shared = { tags: ['phone numbers'], security: [{ bearer: [] }] }

const added = 'Phone number added successfully'
const Added = Type.Object({ message: Type.String(), data: PhoneNumberAnswer }, { title: 'PhoneNumberAnswer' })
const addSchema = {
  ...shared,
  operationId: 'addPhoneNumber',
  summary: 'Add a phone number',
  description: 'A number is one user’s at a time. One that was released may be added again, by anybody.',
  body: example(PhoneNumberBody, { phone_number: phoneNumber.phone_number }),
  response: {
    201: answered('The phone number.', Added, { message: added, data: phoneNumber }, ['ETag', ...writeHeaders]),
    422: invalid({ phone_number: ['is taken already'] })
  }
}

const released = 'Phone number released successfully'
const releaseSchema = {
  ...shared,
  operationId: 'releasePhoneNumber',
  summary: 'Release a phone number',
  description: 'Anybody may add it then. Assistants that were set to it answer phone_number_id null.',
  params: phoneNumberPath,
  response: {
    200: answered('It is released.', Message, { message: released }, writeHeaders),
    404: refusal('Phone number not found or does not belong to the authenticated user')
  }
}

export function addPhoneNumbers (app: App, { handle, phoneClaims }: ApiServices): void {
  const adding = command('user', 'Adding the phone number failed', 'Idempotency-Key')
  app.post('/user/phone-number', { schema: addSchema, ...adding }, (request, reply) => handle(request, reply.code(201), {
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
      if (!state) throw new Error('a handled command left no phone number')
      const data = { id: state.phone_number_id, phone_number }
      return { message: added, data: await readBack({ source: 'catalog', folded: () => data }) }
    }
  }))

  const releasing = command('user', 'Releasing the phone number failed', 'Idempotency-Key', 'If-Match')
  app.delete('/user/phone-number/:id', { schema: releaseSchema, ...releasing }, async (request, reply) => {
    const id = pathId(request.params.id, numberNotFound)
    return await handle(request, reply, {
      body: Type.Object({}),
      validate: () => ({ type: 'release' as const }),
      stream: () => phoneNumberStream(id),
      isForOwner: true,
      decider: phoneNumberDecider,
      async answer ({ state, readBack }) {
        await free(phoneClaims, state, request)
        return await readBack({ source: 'catalog', folded: () => ({ message: released }) })
      }
    })
  })
}

/** The release counts without it: who wants the number next finds that its claim is over. */
async function free (
  claims: PhoneClaims, state: NumberState,
  { id, user, log }: { id: string, user: { id: string }, log: FastifyBaseLogger }
): Promise<void> {
  if (state?.phone_number === undefined) return
  const { phone_number, phone_number_id } = state
  await claims.free({ phone_number, phone_number_id }, { correlationId: id, userId: user.id })
    .catch((error: unknown) => log.warn({ err: error }, 'the claim of a released phone number was not freed'))
}
