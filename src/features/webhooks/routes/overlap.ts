// How long what signed before signs on after a rotation.
import Type from 'typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { soundBody } from '../../../domain/validation.js'
import { command } from '../../../http/command-route.js'
import { example } from '../../../http/docs/describe.js'
import { received } from '../../../http/input/received.js'

const RotationBody = Type.Object({
  overlap_hours: Type.Optional(Type.Integer({
    minimum: 0,
    maximum: 168,
    default: 24,
    description: 'How long what signed before signs as well. With 0 everything that signed before ends at once.'
  }))
}, { title: 'RotationBody' })

export const rotationBody = example(RotationBody, { overlap_hours: 24 })

/** Options of a route that rotates; it needs no body. */
export function rotation (failure: string) {
  const options = command('user', failure, 'Idempotency-Key')
  return { ...options, config: { ...options.config, isBodyOptional: true } }
}

/** @throws Rejection `invalid` */
export const overlapHours = (request: FastifyRequest, reply: FastifyReply) =>
  soundBody(received(request, reply, RotationBody), []).overlap_hours

export const tooSoon = 'Two former secrets still sign: rotate again when the first of them has expired, ' +
  'or with overlap_hours 0, which ends both at once.'
