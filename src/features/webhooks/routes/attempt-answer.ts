// The answer to a redelivery and to a test: the delivery with its new attempt, or the reason of a refusal.
import type { FastifyReply } from 'fastify'
import Type, { type Static } from 'typebox'
import { Delivery, type RequestedAttempt } from '../delivery.js'
import { Rejection } from '../../../domain/rejection.js'
import type { LedgerAnswer } from '../../../commands/idempotency/ledger-commands.js'
import { refusal } from '../../../http/docs/describe.js'

export const AttemptAnswer = Type.Object({ message: Type.String(), data: Delivery }, { title: 'AttemptAnswer' })

const tooManyIn = (seconds: number) =>
  `Too many of these for this assistant: at most 10 a minute. Try again in ${seconds} seconds.`
export const tooMany = refusal(tooManyIn(12))
export const deliveryNotFound = 'Delivery not found or does not belong to the authenticated user'

/** @throws Rejection `not-found`, `webhook-refused`; an error with status 429 */
export function answerAttempt (
  reply: FastifyReply, requested: RequestedAttempt, message: string
): LedgerAnswer<Static<typeof AttemptAnswer>> {
  switch (requested.kind) {
    case 'not-found': throw new Rejection('not-found', deliveryNotFound)
    case 'refused': throw new Rejection('webhook-refused', `Nothing can be sent: ${requested.why}.`)
    case 'too-many':
      reply.header('retry-after', requested.retryInSeconds)
      throw Object.assign(new Error(tooManyIn(requested.retryInSeconds)), { statusCode: 429 })
    case 'accepted':
      return { status: 202, body: { message, data: requested.delivery } }
  }
}
