// The headers that make a retry safe: Idempotency-Key and If-Match.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Rejection, type FieldErrors } from '../domain/rejection.js'
import type { Claim, Once } from '../command-handling/idempotency.js'

/**
 * What the request's Idempotency-Key stands for. A body that was `refused` leads to nothing that could be repeated, so it
 * claims no key.
 * @throws Rejection `invalid` when it is given twice, or is not 1 to 255 printable ASCII characters
 */
export function claimOf (request: FastifyRequest, refused: FieldErrors = {}): Claim {
  const [key, ...more] = request.raw.headersDistinct['idempotency-key'] ?? []
  if (more.length > 0 || (key !== undefined && !/^[\x20-\x7e]{1,255}$/.test(key))) {
    throw new Rejection('invalid', 'The given data was invalid.', { 'Idempotency-Key': ['must be 1 to 255 printable ASCII characters, once'] })
  }
  const { method, routeOptions, url, body } = request
  return { userId: request.user.id, method, route: routeOptions.url ?? url, key: Object.keys(refused).length > 0 ? undefined : key, body, path: url }
}

/** The revisions that If-Match names; nothing when there is no condition. An entity tag that is not ours matches none. */
export function ifMatchOf ({ headers }: FastifyRequest): bigint[] | undefined {
  const given = headers['if-match']
  if (given === undefined || given.trim() === '*') return undefined
  return given.split(',').flatMap((tag) => {
    const revision = /^\s*"(\d{1,18})"\s*$/.exec(tag)?.[1]
    return revision === undefined ? [] : [BigInt(revision)]
  })
}

/** Tells the caller that this answer was given before. */
export function markReplay (reply: FastifyReply, { isReplay }: Once<unknown>): void {
  if (isReplay) reply.header('idempotent-replayed', 'true')
}
