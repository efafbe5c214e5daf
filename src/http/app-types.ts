// What all routes share: the Fastify instance that takes types from TypeBox schemas, answers, ids in paths.
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type {
  FastifyBaseLogger, FastifyInstance, RawReplyDefaultExpression, RawRequestDefaultExpression, RawServerDefault
} from 'fastify'
import Type from 'typebox'
import type { FieldErrors, Rejection } from '../domain/rejection.js'
import { documentedAs } from '../domain/json.js'
import { deliveryId, importId, personRequestId } from './docs/examples.js'

export type App = FastifyInstance<
  RawServerDefault, RawRequestDefaultExpression, RawReplyDefaultExpression, FastifyBaseLogger, TypeBoxTypeProvider
>

export const Message = Type.Object({
  message: Type.String({ description: 'What happened, for a person to read.' })
}, { title: 'Message' })
/** The body of every refusal and failure; a 422 of the fields of a request has `errors`. */
export const ErrorAnswer = Type.Object({
  message: Type.String({ description: 'What is wrong, for a person to read.' }),
  // Not a Record: its pattern would drop names with line breaks.
  errors: Type.Optional(Type.Unsafe<FieldErrors>({
    type: 'object',
    additionalProperties: Type.Array(Type.String()),
    description: 'Every refused field with every reason; paths have dots. ' +
      'Beyond 500 fields, `body` says that there are more.'
  }))
}, { title: 'Error' })

// Validated as text: a malformed id is a 404, like any unknown one, and not a 422.
const integerOf = (title: string, description: string) => Type.Object({
  id: Type.String({ title, description, examples: [1], ...documentedAs({ type: 'integer', minimum: 1 }) })
})

export const assistantPath = integerOf('AssistantPath', 'The assistant.')
export const leadPath = integerOf('LeadPath', 'The lead.')
export const campaignPath = integerOf('CampaignPath', 'The campaign.')
export const phoneNumberPath = integerOf('PhoneNumberPath', 'The phone number.')
export const apiKeyPath = integerOf('ApiKeyPath', 'The API key.')
export const blacklistPath = integerOf('BlacklistPath', 'The do-not-call entry.')

const textOf = (title: string, description: string, example: string) =>
  Type.Object({ id: Type.String({ title, description, examples: [example] }) })

export const deliveryPath = textOf('DeliveryPath', 'The delivery, its webhook-id.', deliveryId)
export const importPath = textOf('ImportPath', 'The import.', importId)
export const personRequestPath = textOf('PersonRequestPath', 'The request.', personRequestId)

/** The id in a path. @throws what `notFound` returns, if no resource can have this id */
export function pathId (text: string, notFound: () => Rejection): number {
  const id = Number(text)
  if (!/^[1-9]\d*$/.test(text) || !Number.isSafeInteger(id)) throw notFound()
  return id
}
