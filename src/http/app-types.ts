// The Fastify instance that routes are added to: TypeBox schemas give their handlers types.
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type {
  FastifyBaseLogger, FastifyInstance, RawReplyDefaultExpression, RawRequestDefaultExpression, RawServerDefault
} from 'fastify'
import Type from 'typebox'
import type { FieldErrors } from '../domain/rejection.js'

export type App = FastifyInstance<
  RawServerDefault, RawRequestDefaultExpression, RawReplyDefaultExpression, FastifyBaseLogger, TypeBoxTypeProvider
>

export const Message = Type.Object({
  message: Type.String({ description: 'What happened, for a person to read.' })
}, { title: 'Message' })
/** Every refusal and failure; `errors` are in a 422 of the fields of a request. */
export const ErrorAnswer = Type.Object({
  message: Type.String({ description: 'What is wrong, for a person to read.' }),
  // Not a Record: its pattern would leave out names with line breaks.
  errors: Type.Optional(Type.Unsafe<FieldErrors>({
    type: 'object',
    additionalProperties: Type.Array(Type.String()),
    description: 'Every refused field with every reason; paths have dots. ' +
      'Of more than 500 fields the first 500, and `body` says that there are more.'
  }))
}, { title: 'Error' })
