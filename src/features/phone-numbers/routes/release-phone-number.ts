// DELETE /user/phone-number/{id}
import type { FastifyBaseLogger } from 'fastify'
import Type from 'typebox'
import type { PhoneClaims } from '../../../commands/phone-claims.js'
import { numberNotFound, phoneNumberDecider, type NumberState } from '../decide.js'
import { phoneNumberStream } from '../events.js'
import { Message, type App } from '../../../http/app-types.js'
import { command } from '../../../http/command-route.js'
import { answered, refusal, writeHeaders } from '../../../http/docs/describe.js'
import { idIn, phoneNumberPath } from '../../../http/path-id.js'
import { answerDeleted } from '../../answer-deleted.js'
import type { PhoneNumberDeps } from './add-phone-number.js'

const released = 'Phone number released successfully'

const schema = {
  operationId: 'releasePhoneNumber',
  summary: 'Release a phone number',
  description: 'Anybody may add it then. Assistants that were set to it answer phone_number_id null.',
  tags: ['phone numbers'],
  security: [{ bearer: [] }],
  params: phoneNumberPath,
  response: {
    200: answered('It is released.', Message, { message: released }, writeHeaders),
    404: refusal('Phone number not found or does not belong to the authenticated user')
  }
}

export function releasePhoneNumber (app: App, { handle, phoneClaims }: PhoneNumberDeps): void {
  const options = command('user', 'Releasing the phone number failed', 'Idempotency-Key', 'If-Match')
  app.delete('/user/phone-number/:id', { schema, ...options }, async (request, reply) => {
    const id = idIn(request.params.id)
    if (id === undefined) throw numberNotFound()
    return await handle(request, reply, {
      body: Type.Object({}),
      validate: () => ({ type: 'release' as const }),
      stream: () => phoneNumberStream(id),
      isForOwner: true,
      decider: phoneNumberDecider,
      async answer (handled) {
        await free(phoneClaims, handled.state, request)
        return await answerDeleted(released, 'catalog', handled)
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
