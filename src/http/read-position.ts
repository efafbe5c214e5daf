// How new an answer is: every GET says what position it reads at, and waits for the one that it is given.
import type { FastifyReply, FastifyRequest } from 'fastify'
import Type from 'typebox'
import { invalid, type FieldErrors } from '../domain/rejection.js'
import { ErrorAnswer } from './app-types.js'
import { only } from './auth.js'
import { requestHeaders } from './docs/describe.js'
import { rangeErrors } from './filters.js'
import { fieldErrors, unstorable } from './field-errors.js'
import type { ReadKind } from './limits/read-slots.js'
import type { Paging } from './lists.js'

/** What a GET reads from: a projection, or the delivery log. */
export type Source = 'assistants' | 'leads' | 'calls' | 'catalog' | 'keys' | 'deliveries'

export interface ReadPositions {
  /** A position that readers of `source` are past already; nothing while it is filled for the first time. */
  passed (source: Source): Promise<bigint | undefined>
  /** True as soon as readers see `source` at the position or later; false when the time is over first. */
  reached (source: Source, position: bigint, withinMs: number): Promise<boolean>
  /** Whether rows at a position that was reached say all that events up to it say. */
  isWhole (source: Source): boolean
  /** How long an answer waits for readers to see a position, in milliseconds. */
  waitMs: number
}

/** The read model has not passed the position that the caller asked for, or holds only a part of the log. */
export class BehindPosition extends Error {
  override readonly name = 'BehindPosition'
}

/** What every GET takes and may answer besides 200. */
export const readHeaders = Type.Object({
  'x-read-position': Type.Optional(Type.String({ description: requestHeaders['X-Read-Position'].description }))
})
export const readErrors = { 401: ErrorAnswer, 403: ErrorAnswer, 422: ErrorAnswer, 503: ErrorAnswer }
export const itemErrors = { 404: ErrorAnswer, ...readErrors }

/** One, or those that a query string asks for. */
type Sources = Source | ((query: object) => Source[])

/**
 * Options of a user's GET that reads from `source`, a list with `paging`: refuses a query string that does not fit with
 * every field at once, waits for a slot and for `X-Read-Position`, and answers with the position that is passed before
 * the first row is read.
 * @throws Rejection `invalid`, TooManyReads, BehindPosition
 */
export function reading (
  source: Sources, { passed, reached, waitMs }: ReadPositions, paging?: Paging,
  kind: ReadKind = paging ? 'list' : 'item'
) {
  return {
    attachValidation: true,
    onRequest: only('user'),
    async preHandler (request: FastifyRequest, reply: FastifyReply): Promise<void> {
      const query = Object(request.query)
      const ofQuery = { ...paging?.problems(query), ...rangeErrors(query), ...queryErrors(request) }
      const errors = { ...ofQuery, ...headerErrors(request) }
      if (Object.keys(errors).length > 0) throw invalid(errors)
      await request.server.acquireReadSlot(kind, request, reply)
      const sources = typeof source === 'function' ? source(query) : [source]
      const wanted = askedPosition(request)
      const areThere = sources.map(async (each) => wanted === undefined || await reached(each, BigInt(wanted), waitMs))
      if ((await Promise.all(areThere)).includes(false)) {
        throw new BehindPosition('The state at X-Read-Position is not there yet: try again in a moment.')
      }
      const positions = await Promise.all(sources.map(passed))
      const known = positions.filter((position) => position !== undefined)
      if (known.length < positions.length) throw new BehindPosition('The read model is being filled: try again in a moment.')
      reply.header('x-read-position', String(known.reduce((least, each) => each < least ? each : least)))
    }
  }
}

/** What is wrong with the query string of a route that validates it by its schema alone. */
export function queryErrors ({ query, validationError }: FastifyRequest): FieldErrors {
  const problems = validationError?.validation ?? []
  return { ...unstorable(query), ...fieldErrors(problems, validationError?.validationContext) }
}

const largestPosition = 2n ** 63n - 1n

function headerErrors (request: FastifyRequest): FieldErrors {
  const given = askedPosition(request)
  const isPosition = given === undefined || (/^\d{1,19}$/.test(given) && BigInt(given) <= largestPosition)
  return isPosition ? {} : { 'X-Read-Position': ['must be the X-Read-Position of an answer, a whole number'] }
}

function askedPosition ({ headers }: FastifyRequest): string | undefined {
  return headers['x-read-position']?.toString()
}
