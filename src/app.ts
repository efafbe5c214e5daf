// Builds the API: plugins and routes; never listens.
import { addFeatures } from './features/routes.js'
import { answerUnchanged } from './http/read-position.js'
import {
  serializerCompiler, validatorCompiler, nameIgnoredParameters, takeCsvWhereWanted, takeOnlyJson
} from './http/bodies.js'
import type { App } from './http/app-types.js'
import { registerAuth } from './http/auth.js'
import { bareApp, type StatusDeps } from './http/bare-app.js'
import { addConsole } from './http/console.js'
import { addHealth, addMetrics } from './http/health.js'
import { type CorsOrigins, noteMethods, registerSecurityHeaders } from './http/edge.js'
import { addApiDocs } from './http/docs/openapi.js'
import { limitBodies, registerRateLimits, registerReadSlots } from './http/limits.js'
import type { OpsServices } from './ops/services.js'
import { addOps } from './ops/routes.js'
import type { ApiServices } from './services/services.js'

interface AppDeps extends StatusDeps {
  basePath: string
  /** Where callers find the service, for the API document. */
  publicUrl?: string | undefined
  corsOrigins: CorsOrigins
  ops: OpsServices
  routes: ApiServices
}

export async function buildApp (deps: AppDeps): Promise<App> {
  const { basePath, jwt, rateLimit, healthChecks, metrics, metricsToken, routes } = deps
  const app = bareApp(deps, deps.corsOrigins)
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
    addHealth(scope, healthChecks, deps.leaving)
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
