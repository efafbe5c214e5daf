// How many requests a minute a caller may make: headers say it, 429 refuses more.
import fastifyRateLimit from '@fastify/rate-limit'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { AddressCounts } from './address-counts.js'

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
}

declare module 'fastify' {
  interface FastifyInstance {
    rateLimits: RateLimits
  }
}

/** How many users a process without Redis remembers. */
const remembered = 20_000

/** A page of documents is six requests. A client whose token is refused has no use for more. */
const usualForStrangers = 120

/** Counts that cannot be read let the request through: the limit protects the service, it is not worth an outage. */
export async function registerRateLimits (app: FastifyInstance, limit: RateLimit): Promise<void> {
  const ofUser = limit.perMinute === 0 ? async () => {} : await userLimit(app, limit)
  app.decorate('rateLimits', { ofUser, ofStranger: strangerLimit(limit.strangersPerMinute ?? usualForStrangers) })
}

async function userLimit (
  app: FastifyInstance, { perMinute, redis }: RateLimit
): Promise<RateLimits['ofUser']> {
  await app.register(fastifyRateLimit, {
    global: false,
    max: perMinute,
    timeWindow: 60_000,
    skipOnError: true,
    cache: remembered,
    nameSpace: 'ringledger:rate:',
    redis
  })
  const count = app.createRateLimit({ keyGenerator: ({ user }) => `user:${user.id}` })
  return async (request, reply) => {
    const counted = await count(request)
    if (counted.isAllowed) return
    const { max, remaining, ttlInSeconds, isExceeded } = counted
    tell(reply, { max, remaining, ttlInSeconds })
    if (isExceeded) throw tooMany(reply, ttlInSeconds)
  }
}

function strangerLimit (max: number): RateLimits['ofStranger'] {
  const counts = new AddressCounts()
  return async ({ ip }, reply) => {
    const { count, resetsInSeconds } = counts.add(ip)
    if (count <= max) return
    tell(reply, { max, remaining: 0, ttlInSeconds: resetsInSeconds })
    throw tooMany(reply, resetsInSeconds)
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
