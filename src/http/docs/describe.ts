// How a route says what it answers: one success with an example, and refusals with the words they use.
import Type, { type TSchema } from 'typebox'
import type { FieldErrors } from '../../domain/rejection.js'
import { ErrorAnswer } from '../app-types.js'
import { answerHeaders, pick, type AnswerHeader, type RequestHeader } from './headers.js'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Headers that the route reads, for the API document; every route reads `X-Correlation-Id`. */
    requestHeaders?: readonly RequestHeader[]
  }
}

/** What a write may say besides its body. */
export const writeHeaders = ['X-Read-Position', 'X-Read-Model', 'X-Ignored-Fields', 'Idempotent-Replayed'] as const

/** What a write may say that only changes the delivery log. */
export const replayHeaders = ['Idempotent-Replayed'] as const

/** A body with an example of it. */
export function example<Schema extends TSchema> (schema: Schema, value: unknown): Schema {
  return { ...schema, examples: [value] }
}

/** What clients call a schema; the API document names it so. */
export const titleOf = (schema: object): string => String(Reflect.get(schema, 'title'))

/** The answer of a GET of one thing, whose schema has a title. */
export const One = <Data extends TSchema>(data: Data) => Type.Object({ data }, { title: `One${titleOf(data)}` })

/** A successful answer: what it means, an example, and the headers it may carry. */
export function answered<Schema extends TSchema> (
  description: string, schema: Schema, value: unknown, headers: readonly AnswerHeader[] = []
): Schema {
  return { ...example(schema, value), 'x-response-description': description, headers: pick(answerHeaders, headers) }
}

/** A refusal whose words differ from the usual ones of its status. */
export const refusal = (message: string) => example(ErrorAnswer, { message })

/** A 422 with the fields that this route is likely to refuse. */
export const invalid = (errors: FieldErrors) => example(ErrorAnswer, { message: 'The given data was invalid.', errors })
