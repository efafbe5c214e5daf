// How many requests a minute a caller may make: headers say it, 429 refuses more.
import fastifyRateLimit, { normalizeIP } from '@fastify/rate-limit'
import { userHash } from '../request-log.js'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

export interface RateLimit {
  /** Of one user; 0 for no limit. */
  perMinute: number
  /** A connection of ioredis, where processes share their counts of users; without it each counts for itself. */
  redis?: unknown
  /** Of one address: documents, and requests whose token is refused. Each process counts for itself. */
  strangersPerMinute?: number
}

/** Each counts one request. @throws an error with status 429 when it is one too many */
export interface RateLimits {
  ofUser (request: FastifyRequest, reply: FastifyReply): Promise<void>
  /** By address: for documents, and for requests whose token does not verify. */
  ofStranger (request: FastifyRequest, reply: FastifyReply): Promise<void>
  /** Another count by address. */
  ofAddress (perMinute: number): (request: FastifyRequest, reply: FastifyReply) => Promise<void>
}

declare module 'fastify' {
  interface FastifyInstance {
    rateLimits: RateLimits
  }
}

/** How many users or addresses a process remembers. */
const remembered = 20_000
const timeWindow = 60_000

/** A page of documents is six requests. A client whose token is refused has no use for more. */
const usualForStrangers = 120

/** One caller has the first 64 bits of an address of IPv6; IPv4 in IPv6 is IPv4. */
export const addressOf = ({ ip }: { ip?: string }) => normalizeIP(ip ?? '') // a connection that is closed has none

/** Counts that cannot be read let the request through: the limit protects the service, it is not worth an outage. */
export async function registerRateLimits (app: FastifyInstance, limit: RateLimit): Promise<void> {
  const ofAddress = await addressLimits(app)
  const ofUser = limit.perMinute === 0 ? async () => {} : await userLimit(app, limit)
  const ofStranger = ofAddress(limit.strangersPerMinute ?? usualForStrangers)
  app.decorate('rateLimits', { ofUser, ofStranger, ofAddress })
}

async function userLimit (
  app: FastifyInstance, { perMinute, redis }: RateLimit
): Promise<RateLimits['ofUser']> {
  await app.register(fastifyRateLimit, {
    global: false,
    max: perMinute,
    timeWindow,
    skipOnError: true,
    cache: remembered,
    nameSpace: 'ringledger:rate:',
    redis,
    keyGenerator: ({ user }) => userHash(user.id)
  })
  const count = app.createRateLimit()
  return async (request, reply) => {
    const counted = await count(request)
    if (counted.isAllowed) return
    const { max, remaining, ttlInSeconds, isExceeded } = counted
    tell(reply, { max, remaining, ttlInSeconds })
    if (isExceeded) throw tooMany(reply, ttlInSeconds)
  }
}

/** In a scope of its own, as the plugin has one store: these counts never go to Redis. */
async function addressLimits (app: FastifyInstance): Promise<RateLimits['ofAddress']> {
  let create: FastifyInstance['createRateLimit'] | undefined
  await app.register(async (scope) => {
    await scope.register(fastifyRateLimit, { global: false, timeWindow, cache: remembered, keyGenerator: addressOf })
    create = scope.createRateLimit.bind(scope)
  })
  return (max) => {
    const count = create?.({ max })
    return async (request, reply) => {
      const counted = await count?.(request)
      if (!counted || counted.isAllowed || !counted.isExceeded) return
      tell(reply, counted)
      throw tooMany(reply, counted.ttlInSeconds)
    }
  }
}

function tell (reply: FastifyReply, left: { max: number, remaining: number, ttlInSeconds: number }): void {
  const { max, remaining, ttlInSeconds } = left
  reply.headers({ 'x-ratelimit-limit': max, 'x-ratelimit-remaining': remaining, 'x-ratelimit-reset': ttlInSeconds })
}

function tooMany (reply: FastifyReply, seconds: number): Error {
  reply.header('retry-after', seconds)
  return Object.assign(new Error(`Too many requests: try again in ${seconds} seconds.`), { statusCode: 429 })
}
