// `/metrics`, for operators, and for the scraper with a token of its own.
import { createHash, timingSafeEqual } from 'node:crypto'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { only } from '../auth/auth.js'
import type { Metrics } from './metrics.js'

/** Without a prefix, so that scrapers do not depend on BASE_PATH. Register authentication and rate limits before. */
export function addMetrics (app: FastifyInstance, metrics: Metrics, token: string | undefined): void {
  const asOperator = only('ops')
  app.get('/metrics', {
    schema: { hide: true },
    logLevel: 'warn',
    onRequest: async (request, reply) => { if (!token || !carries(request, token)) await asOperator(request, reply) }
  }, async (_request, reply) => await reply.type(metrics.contentType).send(await metrics.text()))
}

/** Compared as digests: the time that it takes says nothing about the token or its length. */
function carries ({ headers }: FastifyRequest, token: string): boolean {
  const given = /^Bearer (.+)$/i.exec(headers.authorization ?? '')?.[1]
  return given !== undefined && timingSafeEqual(digest(given), digest(token))
}

const digest = (text: string) => createHash('sha256').update(text).digest()
