// The headers that make a retry safe: Idempotency-Key and If-Match, of routes that name them in their config.
import type { FastifyRequest } from 'fastify'
import type { Claim } from '../../commands/idempotency/idempotency.js'
import { invalid, Rejection } from '../../domain/rejection.js'
import { isMatch } from '../answers/etags.js'
import type { RequestHeader } from '../docs/describe.js'

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

/** @throws Rejection where If-Match names other tags than the present one */
export function refuseUnlessMatching (request: FastifyRequest, present: () => string): void {
  const given = takes(request, 'If-Match') ? request.headers['if-match'] : undefined
  if (given === undefined || isMatch(given, present)) return
  throw new Rejection('revision-mismatch', 'It was changed in the meantime: read it again and send its present ETag.')
}

const takes = ({ routeOptions }: FastifyRequest, header: RequestHeader) =>
  routeOptions.config.requestHeaders?.includes(header)
