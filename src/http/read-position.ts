// Every GET says which position it reads at, and waits for the position that it is given. A command answers from the
// read model, as soon as that has seen the command's events. An ETag is the revision of a stream or, where no one
// stream is all that is shown, a digest.
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

/** The read model lacks the event at the asked position, or is still being filled. */
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

/** One source, or those that a query string asks for. */
export type Sources = Source | ((query: object) => Source[])

type KindOf = ReadKind | ((request: FastifyRequest) => ReadKind)

/**
 * Options of a user's GET that reads from `source`; a list has `paging`. Refuses a query string that does not fit with
 * every field at once, waits for the limit of reads and for `X-Read-Position`, and answers with the position that was
 * passed before the first row is read.
 * @throws Rejection `invalid`, TooManyReads, BehindPosition
 */
export function reading<Schema extends FastifySchema> (
  source: Sources, schema: Schema, kind: KindOf = 'item', paging?: Paging
) {
  return {
    schema: { headers, ...schema },
    attachValidation: true,
    onRequest: only('user'),
    async preHandler (request: FastifyRequest, reply: FastifyReply): Promise<void> {
      const query = Object(request.query)
      const wanted = request.headers['x-read-position']?.toString()
      const isPosition = wanted === undefined || (/^\d{1,19}$/.test(wanted) && BigInt(wanted) < 2n ** 63n)
      const errors = {
        ...paging?.problems(query),
        ...rangeErrors(query),
        ...queryErrors(request),
        ...!isPosition && { 'X-Read-Position': ['must be the X-Read-Position of an answer, a whole number'] }
      }
      if (Object.keys(errors).length > 0) throw invalid(errors)
      const { positions } = request.server
      await request.server.acquireReadSlot(typeof kind === 'function' ? kind(request) : kind, request, reply)
      const sources = typeof source === 'function' ? source(query) : [source]
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

/** Options of a user's GET of data that has no position. */
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

/** What the schema refuses of a query string, by field. */
export function queryErrors ({ query, validationError }: FastifyRequest): FieldErrors {
  const problems = validationError?.validation ?? []
  return { ...unstorable(query), ...fieldErrors(problems, validationError?.validationContext) }
}

/** How to answer a write: from the read model or, without that, from the stream. */
export interface Written<Data> {
  source: Source
  /** Absent where a read would show no more than `folded`. */
  read? (): Promise<Data | undefined>
  /** Folded from the events of the stream. */
  folded (): Data
  /** Rows show nothing but this stream, so `folded` equals what a read would find. */
  isAllInStream?: boolean
}

/**
 * What readers find at the position: `folded` where that is the same and the read model lacks no event, else `read`.
 * The command stands without it: if the read model is late, has parked the event or fails, the answer is `folded`, with
 * `X-Read-Model: pending`. A retry shows the state that the earlier try wrote.
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

/** Adds a digest of `beside`: what the answer shows that changes without an event on the stream. */
export function etagOfRevision (revision: bigint | number, beside: readonly unknown[] = []): string {
  return beside.length === 0 ? `"${revision}"` : `"${revision}.${etagOf(JSON.stringify(beside)).slice(1)}`
}

/** The tags of If-Match or If-None-Match, without `W/`: proxies that compress answers make our tags weak. */
const tagsIn = (header: string) => header.split(',').map((tag) => tag.trim().replace(/^W\//, ''))

/** Whether If-Match holds: it is `*`, or one of its tags has the present revision. */
export const isMatch = (ifMatch: string, present: () => string): boolean =>
  ifMatch.trim() === '*' || tagsIn(ifMatch).map((tag) => tag.replace(/\.[^"]*"$/, '"')).includes(present())

/** Answers 304 without a body if If-None-Match names the ETag (RFC 9110, 13.1.2). */
export function answerUnchanged (app: App): void {
  app.addHook('onSend', async ({ method, headers: { 'if-none-match': known } }, reply, payload) => {
    const etag = reply.getHeader('etag')
    const isRead = (method === 'GET' || method === 'HEAD') && reply.statusCode === 200
    if (!isRead || known === undefined || typeof etag !== 'string') return payload
    if (!tagsIn(known).some((tag) => tag === '*' || tag === etag)) return payload
    reply.code(304).removeHeader('content-type')
    return method === 'GET' ? null : Readable.from([]) // for a text Fastify would send its length
  })
}

export const etagOf = (shown: string | Buffer): string =>
  `"${createHash('sha256').update(shown).digest('base64url').slice(0, 27)}"`

/** The same content gives the same tag. */
export const etagOfData = (data: object): string => etagOf(JSON.stringify(data))

export function tagged<Data extends object> (reply: FastifyReply, data: Data): Data {
  reply.header('etag', etagOfData(data))
  return data
}
