// Every question a user may ask; app.ts adds them all.
import type { App } from '../http/app-types.js'
import { isBlacklisted, type IsBlacklistedDeps, listBlacklist } from './blacklist/routes.js'
import { exportCalls, getCall, type GetCallDeps, listCalls } from './calls/routes.js'
import { exportLeads, getLead, listLeads } from './leads/routes.js'
import { addAssistantQueries, type AssistantServices } from './assistants/routes.js'
import {
  type AssistantSecretQueryDeps, getAssistantWebhookSecret, getWebhookSecret, type WebhookSecretDeps
} from './webhooks/routes-secrets.js'
import { getLeadImport, type LeadImportQueryDeps, listImportResults } from './imports/routes.js'
import { getMe, listApiKeys, type ApiKeyServices } from './api-keys/routes.js'
import {
  type GetDeliveryDeps, getWebhookDelivery, type ListDeliveriesDeps, type ListNoticesDeps, listWebhookDeliveries,
  listWebhookNotices
} from './webhooks/routes.js'
import { downloadPerson, type DownloadDeps } from './persons/routes/download-person.js'
import { getPersonRequest } from './persons/routes/get-person-request.js'
import { addCatalog } from './catalog/routes.js'

export type QueryDeps = LeadImportQueryDeps & AssistantServices & ApiKeyServices & GetCallDeps & IsBlacklistedDeps &
  WebhookSecretDeps & AssistantSecretQueryDeps & GetDeliveryDeps & ListDeliveriesDeps & ListNoticesDeps & DownloadDeps

export function addQueries (app: App, deps: QueryDeps): void {
  addAssistantQueries(app, deps)
  listLeads(app, deps)
  getLead(app, deps)
  exportLeads(app, deps)
  getLeadImport(app, deps)
  listImportResults(app, deps)
  listCalls(app, deps)
  getCall(app, deps)
  exportCalls(app, deps)
  addCatalog(app, deps)
  listApiKeys(app, deps)
  listBlacklist(app, deps)
  isBlacklisted(app, deps)
  getPersonRequest(app, deps)
  downloadPerson(app, deps)
  getMe(app, deps)
  getWebhookSecret(app, deps)
  getAssistantWebhookSecret(app, deps)
  listWebhookDeliveries(app, deps)
  getWebhookDelivery(app, deps)
  listWebhookNotices(app, deps)
}
