// Every route of users and of the call engine.
import type { App } from '../http/app-types.js'
import type { ApiServices } from '../services/services.js'
import { apiKeyCommands, apiKeyQueries, getMe } from './api-keys/routes.js'
import { assistantCommands, assistantQueries } from './assistants/routes.js'
import { blacklistCommands, blacklistQueries } from './blacklist/routes.js'
import { callQueries, completeCall } from './calls/routes.js'
import { campaignRoutes } from './campaigns/routes.js'
import { catalogRoutes } from './catalog/routes.js'
import { importCommands, importQueries } from './imports/routes.js'
import { leadCommands, leadQueries } from './leads/routes.js'
import { personCommands, personQueries } from './persons/routes.js'
import { phoneNumberRoutes } from './phone-numbers/routes.js'
import { optionRoutes, secretCommands, secretQueries } from './webhooks/routes-settings.js'
import { recoverWebhooks, webhookCommands, webhookQueries } from './webhooks/routes.js'

const routes = [
  assistantCommands, campaignRoutes, phoneNumberRoutes, leadCommands, importCommands, apiKeyCommands, blacklistCommands,
  personCommands, completeCall, webhookCommands, secretCommands, recoverWebhooks, optionRoutes,
  assistantQueries, leadQueries, importQueries, callQueries, catalogRoutes, apiKeyQueries, blacklistQueries,
  personQueries, getMe, secretQueries, webhookQueries
].flat()

export function addFeatures (app: App, services: ApiServices): void {
  app.decorate('positions', services.positions)
  for (const add of routes) add(app, services)
}
