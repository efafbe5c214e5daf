// A document that is written once, and answered with an ETag: 304 for who has it already.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { etagOf } from '../answers/etags.js'

interface Prepared { bytes: Buffer, etag: string }

/** A handler that answers what `write` gives. It writes at the first request, when all routes are known. */
export function preparedDocument (contentType: string, write: () => string) {
  let prepared: Prepared | undefined
  return async ({ headers }: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const { bytes, etag } = prepared ??= prepare(write())
    reply.headers({ etag, 'cache-control': 'no-cache' }) // may be kept, and is asked for again
    if (names(headers['if-none-match'], etag)) return await reply.code(304).send()
    return await reply.type(contentType).send(bytes)
  }
}

function prepare (text: string): Prepared {
  const bytes = Buffer.from(text)
  return { bytes, etag: etagOf(bytes) }
}

/** RFC 9110, 13.1.2: any of the tags, weak or strong, or all. */
function names (ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false
  return ifNoneMatch.split(',').some((tag) => ['*', etag].includes(tag.trim().replace(/^W\//, '')))
}
