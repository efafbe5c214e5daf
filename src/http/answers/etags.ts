// ETags: the revision of a stream, or where no one stream is all that is shown, a digest of that.
import { createHash } from 'node:crypto'
import type { FastifyReply } from 'fastify'

export const etagOfRevision = (revision: bigint | number): string => `"${revision}"`

export const etagOf = (shown: string | Buffer): string =>
  `"${createHash('sha256').update(shown).digest('base64url').slice(0, 27)}"`

/** Of an answer's data; the same content gives the same tag. */
export const etagOfData = (data: object): string => etagOf(JSON.stringify(data))

export function tagged<Data extends object> (reply: FastifyReply, data: Data): Data {
  reply.header('etag', etagOfData(data))
  return data
}
