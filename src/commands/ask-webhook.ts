// What asking for a redelivery and for a test share: the answer, and how a refusal is told.
import type { FastifyReply } from 'fastify'
import Type, { type Static } from 'typebox'
import { Delivery, type Asked } from '../domain/webhook/delivery.js'
import { Rejection } from '../domain/rejection.js'
import { refusal } from '../http/docs/describe.js'

export const AskedAnswer = Type.Object({ message: Type.String(), data: Delivery }, { title: 'AskedAnswer' })

export const tooMany = refusal('Too many of these for this assistant: at most 10 a minute. Try again in 12 seconds.')
export const deliveryNotFound = 'Delivery not found or does not belong to the authenticated user'

/** @throws Rejection `not-found`, `webhook-refused`; an error with status 429 */
export async function answerAsked (
  reply: FastifyReply, asked: Asked, message: string
): Promise<Static<typeof AskedAnswer>> {
  switch (asked.kind) {
    case 'not-found': throw new Rejection('not-found', deliveryNotFound)
    case 'refused': throw new Rejection('webhook-refused', `Nothing can be sent: ${asked.why}.`)
    case 'too-many':
      reply.header('retry-after', asked.retryInSeconds)
      throw Object.assign(new Error(`Too many of these for this assistant: at most 10 a minute. Try again in ${asked.retryInSeconds} seconds.`), { statusCode: 429 })
    case 'accepted':
      reply.code(202)
      return { message, data: asked.delivery }
  }
}
