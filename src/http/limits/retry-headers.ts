// The headers that make a retry safe: Idempotency-Key and If-Match, of routes that name them in their config.
import type { FastifyRequest } from 'fastify'
import type { Claim } from '../../command-handling/idempotency/idempotency.js'
import { invalid } from '../../domain/rejection.js'
import type { RequestHeader } from '../docs/headers.js'

/**
 * What the request is recognised by when it comes again.
 * @throws Rejection `invalid` when its Idempotency-Key is given twice, or is not 1 to 255 printable ASCII characters
 */
export function claimOf (request: FastifyRequest): Claim {
  const { method, routeOptions, url, body, user, raw } = request
  const [key, ...more] = takes(request, 'Idempotency-Key') ? raw.headersDistinct['idempotency-key'] ?? [] : []
  if (more.length > 0 || (key !== undefined && !/^[\x20-\x7e]{1,255}$/.test(key))) {
    throw invalid({ 'Idempotency-Key': ['must be 1 to 255 printable ASCII characters, once'] })
  }
  return { userId: user.id, method, route: routeOptions.url ?? url, key, body, path: url }
}

/** The revisions that If-Match names; nothing when there is no condition. A tag that is not ours matches none. */
export function ifMatchOf (request: FastifyRequest): bigint[] | undefined {
  const given = takes(request, 'If-Match') ? request.headers['if-match'] : undefined
  if (given === undefined || given.trim() === '*') return undefined
  return given.split(',').flatMap((tag) => {
    const revision = /^\s*"(\d{1,18})"\s*$/.exec(tag)?.[1]
    return revision === undefined ? [] : [BigInt(revision)]
  })
}

const takes = ({ routeOptions }: FastifyRequest, header: RequestHeader) =>
  routeOptions.config.requestHeaders?.includes(header)
