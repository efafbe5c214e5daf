// ETags: the revision of a stream, or where no one stream is all that is shown, a digest of that.
import type { FastifyReply } from 'fastify'
import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import type { App } from './app-types.js'

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
