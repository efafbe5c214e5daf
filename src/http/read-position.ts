// How new an answer is: every GET says what position it reads at, and waits for the one that it is given. A command is
// answered from the read model, as soon as that has seen the command's events.
import type { FastifyReply, FastifyRequest } from 'fastify'
import Type from 'typebox'
import type { Positions } from '../../projections/engine/positions.js'
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

/** The read model has not passed the position that the caller asked for, or holds only a part of the log. */
export class BehindPosition extends Error {
  override readonly name = 'BehindPosition'
}

/** What every GET takes and may answer besides 200. */
export const readHeaders = Type.Object({
  'x-read-position': Type.Optional(Type.String({ description: requestHeaders['X-Read-Position'].description }))
})
export const readErrors = { 422: ErrorAnswer }
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
  source: Sources, positions: Positions, paging?: Paging,
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
      const isThere = async (each: Source) => wanted === undefined || await positions.reached(each, BigInt(wanted))
      if ((await Promise.all(sources.map(isThere))).includes(false)) {
        throw new BehindPosition('The state at X-Read-Position is not there yet: try again in a moment.')
      }
      const passed = await Promise.all(sources.map((each) => positions.passed(each)))
      const known = passed.filter((position) => position !== undefined)
      if (known.length < passed.length) throw new BehindPosition('The read model is being filled: try again in a moment.')
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

/** What was written: where it is read, and what is answered without that. */
export interface Written<Data> {
  source: Source
  /** Absent where reads say nothing that is not folded. */
  read? (): Promise<Data | undefined>
  /** From the events of the stream. */
  folded (): Data
  /** The stream is all that rows say of it: what is folded is what would be read. */
  isAllInStream?: boolean
}

/**
 * What readers find once they see the position: `folded` where that is the same, and they lack no event; else what
 * `read` finds. The command is valid without it: when they do not see the position in time, or the read fails, the
 * answer is `folded`, with `X-Read-Model: pending`. What an earlier try wrote is `folded` as it was then.
 */
export async function readBack<Data> (
  positions: Positions, reply: FastifyReply,
  { position, wasHandled }: { position: bigint, wasHandled?: boolean },
  { source, read, folded, isAllInStream = false }: Written<Data>
): Promise<Data> {
  const find = () => !read || wasHandled || (isAllInStream && positions.isWhole(source)) ? folded() : read()
  const found = await positions.reached(source, position)
    .then((isThere) => isThere ? find() : undefined)
    .catch((error: unknown) => {
      reply.log.warn({ err: error }, 'the read model could not be read after a command')
      return undefined
    })
  if (found !== undefined) return found
  reply.header('x-read-model', 'pending')
  return folded()
}
