// Every route of users and of the call engine.
import type { App } from '../http/app-types.js'
import { addApiKeyCommands, getMe, listApiKeys, type ApiKeyServices } from './api-keys/routes.js'
import { addAssistantCommands, addAssistantQueries, type AssistantServices } from './assistants/routes.js'
import {
  addToBlacklist, deleteFromBlacklist, isBlacklisted, listBlacklist, type BlacklistDeps, type IsBlacklistedDeps
} from './blacklist/routes.js'
import { completeCall, exportCalls, getCall, listCalls, type CallDeps, type GetCallDeps } from './calls/routes.js'
import { addCampaigns } from './campaigns/routes.js'
import { addCatalog } from './catalog/routes.js'
import {
  getLeadImport, importLeads, listImportResults, type LeadImportDeps, type LeadImportQueryDeps
} from './imports/routes.js'
import { createLead, deleteLead, exportLeads, getLead, listLeads, updateLead, type LeadDeps } from './leads/routes.js'
import {
  downloadPerson, erasePerson, exportPerson, getPersonRequest, type DownloadDeps, type PersonDeps
} from './persons/routes.js'
import { addPhoneNumbers, type PhoneNumberServices } from './phone-numbers/routes.js'
import {
  changeAssistantSecret, getAssistantWebhookSecret, getWebhookSecret, rotateWebhookSecret, type AssistantSecretDeps,
  type AssistantSecretQueryDeps, type RotateSecretDeps, type WebhookSecretDeps
} from './webhooks/routes-secrets.js'
import {
  getWebhookDelivery, listWebhookDeliveries, listWebhookNotices, recoverWebhooks, redeliverWebhook, resumeWebhook,
  testWebhook, type GetDeliveryDeps, type ListDeliveriesDeps, type ListNoticesDeps, type RecoverWebhooksDeps,
  type RedeliverDeps, type ResumeWebhookDeps, type TestWebhookDeps
} from './webhooks/routes.js'

export type FeatureServices = AssistantServices & PhoneNumberServices & LeadDeps & LeadImportDeps & ApiKeyServices &
  BlacklistDeps & PersonDeps & CallDeps & RedeliverDeps & TestWebhookDeps & ResumeWebhookDeps & RotateSecretDeps &
  AssistantSecretDeps & RecoverWebhooksDeps & LeadImportQueryDeps & GetCallDeps & IsBlacklistedDeps &
  WebhookSecretDeps & AssistantSecretQueryDeps & GetDeliveryDeps & ListDeliveriesDeps & ListNoticesDeps & DownloadDeps

const routes = [
  addAssistantCommands, addCampaigns, addPhoneNumbers,
  createLead, updateLead, deleteLead, importLeads,
  addApiKeyCommands,
  addToBlacklist, deleteFromBlacklist,
  exportPerson, erasePerson,
  completeCall,
  redeliverWebhook, testWebhook, resumeWebhook, rotateWebhookSecret, changeAssistantSecret, recoverWebhooks,
  addAssistantQueries, listLeads, getLead, exportLeads, getLeadImport, listImportResults, listCalls, getCall,
  exportCalls, addCatalog, listApiKeys, listBlacklist, isBlacklisted, getPersonRequest, downloadPerson, getMe,
  getWebhookSecret, getAssistantWebhookSecret, listWebhookDeliveries, getWebhookDelivery, listWebhookNotices
]

export function addFeatures (app: App, services: FeatureServices): void {
  for (const add of routes) add(app, services)
}
