// Every route of users and of the call engine.
import type { App } from '../http/app-types.js'
import type { ApiServices } from '../services/services.js'
import { addApiKeyCommands, getMe, listApiKeys } from './api-keys/routes.js'
import { addAssistantCommands, addAssistantQueries } from './assistants/routes.js'
import { addToBlacklist, deleteFromBlacklist, isBlacklisted, listBlacklist } from './blacklist/routes.js'
import { getDay } from './calls/routes-day.js'
import { completeCall, exportCalls, getCall, listCalls } from './calls/routes.js'
import { addCampaigns } from './campaigns/routes.js'
import { addCatalog } from './catalog/routes.js'
import { getLeadImport, importLeads, listImportResults, listLeadImports } from './imports/routes.js'
import { createLead, deleteLead, exportLeads, getLead, listLeads, updateLead } from './leads/routes.js'
import { downloadPerson, erasePerson, exportPerson, getPersonRequest } from './persons/routes.js'
import { addPhoneNumbers } from './phone-numbers/routes.js'
import { addWebhookOptions } from './webhooks/routes-options.js'
import {
  changeAssistantSecret, getAssistantWebhookSecret, getWebhookSecret, rotateWebhookSecret
} from './webhooks/routes-secrets.js'
import {
  getWebhookDelivery, listWebhookDeliveries, listWebhookNotices, recoverWebhooks, redeliverWebhook, redeliverWebhooks,
  resumeWebhook, testWebhook
} from './webhooks/routes.js'

const routes = [
  addAssistantCommands, addCampaigns, addPhoneNumbers,
  createLead, updateLead, deleteLead, importLeads,
  addApiKeyCommands,
  addToBlacklist, deleteFromBlacklist,
  exportPerson, erasePerson,
  completeCall,
  redeliverWebhook, redeliverWebhooks, testWebhook, resumeWebhook,
  rotateWebhookSecret, changeAssistantSecret, recoverWebhooks,
  addWebhookOptions,
  addAssistantQueries, listLeads, getLead, exportLeads, getLeadImport, listLeadImports, listImportResults,
  listCalls, getCall,
  exportCalls, getDay, addCatalog, listApiKeys, listBlacklist, isBlacklisted, getPersonRequest, downloadPerson, getMe,
  getWebhookSecret, getAssistantWebhookSecret, listWebhookDeliveries, getWebhookDelivery, listWebhookNotices
]

export function addFeatures (app: App, services: ApiServices): void {
  for (const add of routes) add(app, services)
}
