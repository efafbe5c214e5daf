// ETags: the revision of a stream, or where no one stream is all that is shown, a digest of that.
import { createHash } from 'node:crypto'
import type { FastifyReply } from 'fastify'

/** With a digest of what is shown beside the stream's state and changes without an event on it, where there is any. */
export function etagOfRevision (revision: bigint | number, beside: readonly unknown[] = []): string {
  return beside.length === 0 ? `"${revision}"` : `"${revision}.${etagOf(JSON.stringify(beside)).slice(1)}`
}

/** What a command depends on: the revision alone. */
export const withoutBeside = (etag: string): string => etag.replace(/\.[^"]*"$/, '"')

export const etagOf = (shown: string | Buffer): string =>
  `"${createHash('sha256').update(shown).digest('base64url').slice(0, 27)}"`

/** Of an answer's data; the same content gives the same tag. */
export const etagOfData = (data: object): string => etagOf(JSON.stringify(data))

export function tagged<Data extends object> (reply: FastifyReply, data: Data): Data {
  reply.header('etag', etagOfData(data))
  return data
}
