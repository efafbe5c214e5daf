// How new an answer is: every GET says what position it reads at, and waits for the one that it is given. A command is
// answered from the read model, as soon as that has seen the command's events. An ETag says what was shown: it is the
// revision of a stream, or where no one stream is all of it, a digest.
import type { FastifyContextConfig, FastifyReply, FastifyRequest, FastifySchema } from 'fastify'
import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import Type from 'typebox'
import type { Positions } from '../../projections/engine/positions.js'
import { invalid, type FieldErrors, unstorable } from '../domain/rejection.js'
import type { App } from './app-types.js'
import { only } from './auth.js'
import { requestHeaders } from './docs/describe.js'
import { rangeErrors } from './filters.js'
import { fieldErrors } from './field-errors.js'
import type { ReadKind } from './limits.js'
import type { Paging } from './lists.js'

/** What a GET reads from: a projection, or the delivery log. */
export type Source = 'assistants' | 'leads' | 'calls' | 'catalog' | 'keys' | 'deliveries'

/** The read model lacks the event at the position that the caller asked for, or holds only a part of the log. */
export class BehindPosition extends Error {
  override readonly name = 'BehindPosition'
}

declare module 'fastify' {
  interface FastifyInstance {
    positions: Positions
  }
}

const headers = Type.Object({
  'x-read-position': Type.Optional(Type.String({ description: requestHeaders['X-Read-Position'].description }))
})

/** One, or those that a query string asks for. */
export type Sources = Source | ((query: object) => Source[])

/**
 * Options of a user's GET that reads from `source`, a list with `paging`: refuses a query string that does not fit with
 * every field at once, waits for a slot and for `X-Read-Position`, and answers with the position that is passed before
 * the first row is read.
 * @throws Rejection `invalid`, TooManyReads, BehindPosition
 */
export function reading<Schema extends FastifySchema> (
  source: Sources, schema: Schema, kind: ReadKind = 'item', paging?: Paging
) {
  return {
    schema: { headers, ...schema },
    attachValidation: true,
    onRequest: only('user'),
    async preHandler (request: FastifyRequest, reply: FastifyReply): Promise<void> {
      const query = Object(request.query)
      const ofQuery = { ...paging?.problems(query), ...rangeErrors(query), ...queryErrors(request) }
      const errors = { ...ofQuery, ...headerErrors(request) }
      if (Object.keys(errors).length > 0) throw invalid(errors)
      const { positions } = request.server
      await request.server.acquireReadSlot(kind, request, reply)
      const sources = typeof source === 'function' ? source(query) : [source]
      const wanted = askedPosition(request)
      if (wanted !== undefined) {
        const seen = await Promise.all(sources.map((each) => positions.projected(each, BigInt(wanted))))
        if (seen.includes('late')) throw new BehindPosition('The state at X-Read-Position is not there yet: try again in a moment.')
        if (seen.includes('parked')) throw new BehindPosition('The event at X-Read-Position waits for an operator.')
      }
      const passed = await Promise.all(sources.map((each) => positions.passed(each)))
      const known = passed.filter((position) => position !== undefined)
      if (known.length < passed.length) throw new BehindPosition('The read model is being filled: try again in a moment.')
      reply.header('x-read-position', String(known.reduce((least, each) => each < least ? each : least)))
    }
  }
}

/** Options of a user's GET of what has no position. */
export const readingNow = <Schema extends FastifySchema>(
  schema: Schema, config: FastifyContextConfig = {}, kind: ReadKind = 'item'
) => ({
    schema,
    config,
    onRequest: only('user'),
    async preHandler (request: FastifyRequest, reply: FastifyReply): Promise<void> {
      await request.server.acquireReadSlot(kind, request, reply)
    }
  })

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
 * `read` finds. The command is valid without it: when they do not see it in time, its event is parked, or the read
 * fails, the answer is `folded`, with `X-Read-Model: pending`. A retry shows the state that the earlier try wrote.
 */
export async function readBack<Data> (
  positions: Positions, reply: FastifyReply,
  { position, wasHandled }: { position: bigint, wasHandled?: boolean },
  { source, read, folded, isAllInStream = false }: Written<Data>
): Promise<Data> {
  const find = () => !read || wasHandled || (isAllInStream && positions.isWhole(source)) ? folded() : read()
  const found = await positions.projected(source, position)
    .then((seen) => seen === 'seen' ? find() : undefined)
    .catch((error: unknown) => {
      reply.log.warn({ err: error }, 'the read model could not be read after a command')
      return undefined
    })
  if (found !== undefined) return found
  reply.header('x-read-model', 'pending')
  return folded()
}

/** With a digest of what is shown beside the stream's state and changes without an event on it, where there is any. */
export function etagOfRevision (revision: bigint | number, beside: readonly unknown[] = []): string {
  return beside.length === 0 ? `"${revision}"` : `"${revision}.${etagOf(JSON.stringify(beside)).slice(1)}`
}

/** What a command depends on: the revision alone. */
const withoutBeside = (etag: string): string => etag.replace(/\.[^"]*"$/, '"')

/** The tags of If-Match or If-None-Match. Proxies that compress answers make ours weak: one is as good as the other. */
const tagsIn = (header: string) => header.split(',').map((tag) => tag.trim().replace(/^W\//, ''))

/** Whether If-Match holds: any of its tags is that of the present revision, or all are meant. */
export const isMatch = (ifMatch: string, present: () => string): boolean =>
  ifMatch.trim() === '*' || tagsIn(ifMatch).map(withoutBeside).includes(present())

/** Who reads what they have already, by If-None-Match, gets no body (RFC 9110, 13.1.2). */
export function answerUnchanged (app: App): void {
  app.addHook('onSend', async ({ method, headers: { 'if-none-match': known } }, reply, payload) => {
    const etag = reply.getHeader('etag')
    const isRead = (method === 'GET' || method === 'HEAD') && reply.statusCode === 200
    if (!isRead || known === undefined || typeof etag !== 'string') return payload
    if (!tagsIn(known).some((tag) => tag === '*' || tag === etag)) return payload
    reply.code(304).removeHeader('content-type')
    return method === 'GET' ? null : Readable.from([]) // of a text Fastify would tell the length
  })
}

export const etagOf = (shown: string | Buffer): string =>
  `"${createHash('sha256').update(shown).digest('base64url').slice(0, 27)}"`

/** Of an answer's data; the same content gives the same tag. */
export const etagOfData = (data: object): string => etagOf(JSON.stringify(data))

export function tagged<Data extends object> (reply: FastifyReply, data: Data): Data {
  reply.header('etag', etagOfData(data))
  return data
}
