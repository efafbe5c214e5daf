// How many bytes of bodies this process works on at once: others wait unread, and then are refused.
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { Shares } from '../../command-handling/shares.js'
import { isCsv, streamedBytes } from '../imports/csv-body.js'
import { untilGone, whileAnswering } from './while-answering.js'

interface BodyBytesOptions {
  /** Of one user, in bytes. */
  ofUser?: number | undefined
  /** Of all users. A body takes several times its length while it is parsed, checked, stored and answered. */
  ofAll?: number | undefined
  /** How long a body waits, in milliseconds. */
  waitMs?: number | undefined
}

/** Too many bodies are being worked on, of the user (429) or of all (503). Nothing of this one was read. */
export class TooManyBodies extends Error {
  override readonly name = 'TooManyBodies'
  constructor (readonly status: 429 | 503, message: string) {
    super(message)
  }
}

/** What a request takes beside its body, and a small body when it is parsed. */
const leastBytes = 8 * 1024

const everybody = ''

/**
 * A body waits before any of it is read, once it is known whose it is. Its length is the one that it declares, or the
 * limit of its route. Register authentication before.
 */
export function registerBodyBytes (app: FastifyInstance, options: BodyBytesOptions = {}): void {
  const { ofUser = 4 * 2 ** 20, ofAll = 16 * 2 ** 20, waitMs = 5_000 } = options
  const [users, all] = [new Shares(ofUser, waitMs), new Shares(ofAll, waitMs)]
  const hold = whileAnswering(app)
  app.addHook('preParsing', async (request, reply) => {
    if (!hasBody(request)) return
    const bytes = bytesOf(request)
    const gone = untilGone(request, reply)
    const releaseUser = await users.acquire(whose(request), gone, bytes)
    if (!releaseUser) throw new TooManyBodies(429, 'Too much of what you sent is being worked on: try again in a moment.')
    const releaseAll = await all.acquire(everybody, gone, bytes)
    if (!releaseAll) {
      releaseUser()
      throw new TooManyBodies(503, 'The service has too much to do right now. Nothing was changed.')
    }
    hold(request, gone, () => {
      releaseUser()
      releaseAll()
    })
  })
}

/** Who logs in is not known yet: that is the body of an address. */
const whose = ({ user, ip }: { user: { id: string } | null, ip: string }) => user ? `user ${user.id}` : `address ${ip}`

/** Of other methods Fastify reads none. */
const hasBody = ({ method }: FastifyRequest) => !['GET', 'HEAD', 'OPTIONS'].includes(method)

function bytesOf (request: FastifyRequest): number {
  const { headers, routeOptions } = request
  if (routeOptions.config.takesCsv && isCsv(request)) return streamedBytes
  const declared = headers['transfer-encoding'] === undefined ? Number(headers['content-length'] ?? 0) : Infinity
  return Math.max(leastBytes, Math.min(declared, routeOptions.bodyLimit ?? Infinity))
}
