// Builds the app of roles that take no requests, and the base that the API's app shares with it; never listens.
import fastify, { type FastifyBaseLogger } from 'fastify'
import { Rejection } from '../domain/rejection.js'
import { answerError } from '../errors.js'
import type { App } from './app-types.js'
import { registerAuth } from './auth.js'
import type { Credentials, JwtSettings } from './credentials.js'
import { addHealth, addMetrics, type HealthChecks } from './health.js'
import {
  answerMalformed, closeInTime, type ClosingTimes, decodable, noteMethods, refuseAmbiguous, refuseTunnels, allowOrigins,
  type CorsOrigins
} from './edge.js'
import { requestLogger } from './logging.js'
import type { Metrics } from './metrics.js'
import { correlationId, RequestLog, traceRequests } from './request-log.js'
import { registerRateLimits, type RateLimit } from './limits.js'

export interface StatusDeps {
  logger: FastifyBaseLogger
  jwt: JwtSettings
  credentials: Credentials
  rateLimit: RateLimit
  /** How long a client may neither read nor write before its connection ends, in milliseconds; 30 s when absent. */
  idleMs?: number | undefined
  healthChecks: HealthChecks
  /** Aborted when the process is asked to stop: it is not ready then, and each answer ends its connection. */
  leaving?: AbortSignal | undefined
  closing?: ClosingTimes | undefined
  metrics: Metrics
  /** Opens /metrics without a user's token. */
  metricsToken?: string | undefined
}

/** Bytes of a JSON body, so that its event fits the store's 1 MiB. Some routes set their own limit. */
const bodyLimit = 512 * 1024

/** Call ids may exceed Fastify's limit of 100, and a text that cannot be an id is a 404, not a 414. */
const longestPath = 16 * 1024

/** The app of roles that take no requests: health and metrics. */
export async function buildStatusApp (deps: StatusDeps): Promise<App> {
  const { jwt, credentials, rateLimit, healthChecks, metrics, metricsToken } = deps
  const app = bareApp(deps)
  const refuseOthers = noteMethods(app)
  await registerAuth(app, jwt, credentials)
  await registerRateLimits(app, rateLimit)
  addMetrics(app, metrics, metricsToken)
  addHealth(app, healthChecks, deps.leaving)
  refuseOthers()
  return app
}

/** The base of every app: timeouts, refusals, error answers, metrics. */
export function bareApp (
  { logger, metrics, idleMs = 30_000, leaving, closing }: StatusDeps, corsOrigins: CorsOrigins = []
): App {
  const app: App = fastify({
    loggerInstance: requestLogger(logger),
    requestTimeout: 60_000, // a slow body holds no socket forever
    connectionTimeout: idleMs, // nor does a client that takes no answer
    return503OnClosing: false, // requests that came before close() get their answers
    bodyLimit,
    routerOptions: { maxParamLength: longestPath },
    logController: new RequestLog({ requestIdLogLabel: 'correlationId' }),
    genReqId: correlationId,
    clientErrorHandler: answerMalformed,
    http: { requireHostHeader: false }, // Node's refusal has no body: refuseAmbiguous sends one
    rewriteUrl: decodable
  })
  traceRequests(app)
  app.setErrorHandler(answerError)
  app.addHook('preParsing', async ({ is404 }) => { if (is404) throw nothingHere() }) // before its body is looked at
  app.setNotFoundHandler(() => { throw nothingHere() })
  allowOrigins(app, corsOrigins)
  refuseAmbiguous(app)
  refuseTunnels(app)
  closeInTime(app, leaving, closing)
  app.addHook('onSend', async (request, reply) => { reply.header('x-correlation-id', request.id) })
  app.addHook('onResponse', async (request, reply) => metrics.observe(request, reply))
  return app
}

const nothingHere = () => new Rejection('not-found', 'There is nothing at this address.')
