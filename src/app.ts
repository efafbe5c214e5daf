// Builds the HTTP side: plugins, routes, error handler; never listens.
import fastify, { type FastifyBaseLogger } from 'fastify'
import { addFeatures } from './features/routes.js'
import { Rejection } from './domain/rejection.js'
import { answerError } from './errors.js'
import { answerUnchanged } from './http/read-position.js'
import {
  serializerCompiler, validatorCompiler, nameIgnoredParameters, takeCsvWhereWanted, takeOnlyJson
} from './http/bodies.js'
import type { App } from './http/app-types.js'
import { registerAuth } from './http/auth.js'
import { addConsole } from './http/console.js'
import type { Credentials, JwtSettings } from './http/credentials.js'
import { addHealth, addMetrics, type HealthChecks } from './http/health.js'
import {
  answerMalformed, closeInTime, type ClosingTimes, decodable, noteMethods, refuseAmbiguous, refuseTunnels,
  registerSecurityHeaders, allowOrigins, type CorsOrigins
} from './http/edge.js'
import { requestLogger } from './http/logging.js'
import type { Metrics } from './http/metrics.js'
import { addApiDocs } from './http/docs/openapi.js'
import { correlationId, RequestLog, traceRequests } from './http/request-log.js'
import { limitBodies, registerRateLimits, type RateLimit, registerReadSlots } from './http/limits.js'
import type { OpsServices } from './ops/services.js'
import { addOps } from './ops/routes.js'
import type { ApiServices } from './services/services.js'

export interface AppDeps {
  logger: FastifyBaseLogger
  basePath: string
  /** Where callers find the service, for the API document. */
  publicUrl?: string | undefined
  jwt: JwtSettings
  /** Without them there are no API keys, and no token is revoked. */
  credentials?: Credentials | undefined
  corsOrigins: CorsOrigins
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
  ops: OpsServices
  routes: ApiServices
}

/** Of a user's request; an event stays under the store's 1 MiB with room to spare. */
const bodyLimit = 512 * 1024

/** Ids of calls are longer than Fastify's limit of 100; what no id can be is not found, and not a 414. */
const longestPath = 16 * 1024

/** The app with every route of the API. */
export async function buildApp (deps: AppDeps): Promise<App> {
  const { basePath, jwt, rateLimit, healthChecks, metrics, metricsToken, routes } = deps
  const app = bareApp(deps)
  const refuseOthers = noteMethods(app)
  answerUnchanged(app)
  app.setValidatorCompiler(validatorCompiler)
  app.setSerializerCompiler(serializerCompiler)
  takeOnlyJson(app)
  takeCsvWhereWanted(app)
  limitBodies(app)
  await registerSecurityHeaders(app)
  await app.register(async (scope) => {
    await registerAuth(scope, jwt, deps.credentials)
    await registerRateLimits(scope, rateLimit)
    registerReadSlots(scope)
    addMetrics(scope, metrics, metricsToken)
    await addApiDocs(scope, basePath, deps.publicUrl)
    addHealth(scope, healthChecks, undefined, deps.leaving)
    await addConsole(scope, basePath)
    await scope.register(async (api: App) => {
      api.addHook('preHandler', async (request, reply) => nameIgnoredParameters(request, reply))
      addFeatures(api, routes)
      addOps(api, deps.ops)
    }, { prefix: basePath })
  })
  refuseOthers()
  return app
}

/** An app for roles that take no requests: it only says how they are. */
export async function buildStatusApp (deps: Omit<AppDeps, 'basePath' | 'publicUrl' | 'corsOrigins' | 'ops' | 'routes'>): Promise<App> {
  const { jwt, credentials, rateLimit, healthChecks, metrics, metricsToken } = deps
  const app = bareApp(deps)
  const refuseOthers = noteMethods(app)
  await registerAuth(app, jwt, credentials)
  await registerRateLimits(app, rateLimit)
  addMetrics(app, metrics, metricsToken)
  addHealth(app, healthChecks, undefined, deps.leaving)
  refuseOthers()
  return app
}

type BareDeps = Pick<AppDeps, 'logger' | 'metrics' | 'idleMs' | 'leaving' | 'closing'> &
  Partial<Pick<AppDeps, 'corsOrigins'>>

function bareApp ({ logger, metrics, idleMs = 30_000, leaving, closing, corsOrigins = [] }: BareDeps): App {
  const app: App = fastify({
    loggerInstance: requestLogger(logger),
    requestTimeout: 60_000, // a body that trickles in holds no socket for ever
    connectionTimeout: idleMs, // nor does a client that takes no answer
    return503OnClosing: false, // who came before it stopped to listen is answered
    bodyLimit,
    routerOptions: { maxParamLength: longestPath },
    logController: new RequestLog({ requestIdLogLabel: 'correlationId' }),
    genReqId: correlationId,
    clientErrorHandler: answerMalformed,
    http: { requireHostHeader: false }, // its refusal would have no body: refuseAmbiguous has one
    rewriteUrl: decodable
  })
  traceRequests(app)
  app.setErrorHandler(answerError)
  app.addHook('preParsing', async ({ is404 }) => { if (is404) throw nothingHere() }) // whatever its body is
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
