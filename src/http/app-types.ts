// The Fastify instance that routes are added to: TypeBox schemas give their handlers types.
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyBaseLogger, FastifyInstance, RawReplyDefaultExpression, RawRequestDefaultExpression, RawServerDefault } from 'fastify'
import Type from 'typebox'

export type App = FastifyInstance<RawServerDefault, RawRequestDefaultExpression, RawReplyDefaultExpression, FastifyBaseLogger, TypeBoxTypeProvider>

export const Message = Type.Object({ message: Type.String({ description: 'What happened, for a person to read.' }) }, { title: 'Message' })
export const Invalid = Type.Object({
  message: Type.String(),
  errors: Type.Record(Type.String(), Type.Array(Type.String()), { description: 'Every refused field with every reason; paths have dots.' })
}, { title: 'Invalid' })
