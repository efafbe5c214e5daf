// Every question a user may ask; app.ts adds them all.
import type { App } from '../http/app-types.js'
import { isBlacklisted, type IsBlacklistedDeps } from './blacklist/routes/is-blacklisted.js'
import { listBlacklist } from './blacklist/routes/list-blacklist.js'
import { exportCalls } from './calls/routes/export-calls.js'
import { exportLeads, getLead, listLeads } from './leads/routes.js'
import { addAssistantQueries, type AssistantServices } from './assistants/routes.js'
import { getAssistantWebhookSecret, type AssistantSecretQueryDeps } from './webhooks/routes/assistant-webhook-secret.js'
import { getCall, type GetCallDeps } from './calls/routes/get-call.js'
import { getLeadImport, type LeadImportQueryDeps } from './imports/routes/get-lead-import.js'
import { listImportResults } from './imports/routes/list-import-results.js'
import { getMe, type GetMeDeps } from './api-keys/routes/get-me.js'
import { getWebhookDelivery, type GetDeliveryDeps } from './webhooks/routes/get-webhook-delivery.js'
import { downloadPerson, type DownloadDeps } from './persons/routes/download-person.js'
import { getPersonRequest } from './persons/routes/get-person-request.js'
import { listApiKeys } from './api-keys/routes/list-api-keys.js'
import { listCalls } from './calls/routes/list-calls.js'
import { addCatalog } from './catalog/routes.js'
import { listWebhookNotices, type ListNoticesDeps } from './webhooks/routes/list-webhook-notices.js'
import { listWebhookDeliveries, type ListDeliveriesDeps } from './webhooks/routes/list-webhook-deliveries.js'
import { getWebhookSecret, type WebhookSecretDeps } from './webhooks/routes/webhook-secret.js'

export type QueryDeps = LeadImportQueryDeps & AssistantServices & GetCallDeps &
  GetMeDeps & IsBlacklistedDeps
  & WebhookSecretDeps & AssistantSecretQueryDeps & GetDeliveryDeps & ListDeliveriesDeps & ListNoticesDeps & DownloadDeps

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
