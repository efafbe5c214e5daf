// How many requests a minute a caller may make: headers say it, 429 refuses more.
import fastifyRateLimit, { normalizeIP } from '@fastify/rate-limit'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

export interface RateLimit {
  /** 0 for no limit. */
  perMinute: number
  /** A connection of ioredis, where processes share their counts; without it each counts for itself. */
  redis?: unknown
}

/** Each counts one request. @throws an error with status 429 when it is one too many */
export interface RateLimits {
  ofUser (request: FastifyRequest, reply: FastifyReply): Promise<void>
  /** By address: for requests whose token does not verify. */
  ofStranger (request: FastifyRequest, reply: FastifyReply): Promise<void>
}

declare module 'fastify' {
  interface FastifyInstance {
    rateLimits: RateLimits
  }
}

/** How many callers a process without Redis remembers. */
const remembered = 20_000

/** Counts that cannot be read let the request through: the limit protects the service, it is not worth an outage. */
export async function registerRateLimits (app: FastifyInstance, { perMinute, redis }: RateLimit): Promise<void> {
  if (perMinute === 0) {
    app.decorate('rateLimits', { ofUser: async () => {}, ofStranger: async () => {} })
    return
  }
  await app.register(fastifyRateLimit, {
    global: false,
    max: perMinute,
    timeWindow: 60_000,
    skipOnError: true,
    cache: remembered,
    nameSpace: 'ringledger:rate:',
    redis
  })
  const countUser = app.createRateLimit({ keyGenerator: ({ user }) => `user:${user.id}` })
  const countAddress = app.createRateLimit({ keyGenerator: ({ ip }) => `address:${normalizeIP(ip)}` })
  app.decorate('rateLimits', {
    ofUser: async (request, reply) => refuseExcess(await countUser(request), reply),
    ofStranger: async (request, reply) => refuseExcess(await countAddress(request), reply)
  })
}

type Count = Awaited<ReturnType<ReturnType<FastifyInstance['createRateLimit']>>>

function refuseExcess (count: Count, reply: FastifyReply): void {
  if (count.isAllowed) return
  const { max, remaining, ttlInSeconds, isExceeded } = count
  reply.headers({ 'x-ratelimit-limit': max, 'x-ratelimit-remaining': remaining, 'x-ratelimit-reset': ttlInSeconds })
  if (!isExceeded) return
  reply.header('retry-after', ttlInSeconds)
  throw Object.assign(new Error(`Too many requests: try again in ${ttlInSeconds} seconds.`), { statusCode: 429 })
}
