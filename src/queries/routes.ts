// Every question a user may ask; app.ts adds them all.
import type { App } from '../http/app-types.js'
import { isBlacklisted, type IsBlacklistedDeps } from './blacklist/is-blacklisted.js'
import { listBlacklist } from './blacklist/list-blacklist.js'
import { exportCalls } from './export/export-calls.js'
import { exportLeads } from './export/export-leads.js'
import { getAssistant, type GetAssistantDeps } from './get-assistant.js'
import { getAssistantWebhookSecret, type AssistantSecretQueryDeps } from './webhook/assistant-webhook-secret.js'
import { getAssistantHistory } from './get-assistant-history.js'
import { getCampaign } from './get-campaign.js'
import { getCall, type GetCallDeps } from './get-call.js'
import { getLead } from './get-lead.js'
import { getLeadImport, type LeadImportQueryDeps } from './lead-import/get-lead-import.js'
import { listImportResults } from './lead-import/list-import-results.js'
import { getMe, type GetMeDeps } from './get-me.js'
import { getWebhookDelivery, type GetDeliveryDeps } from './webhook/get-webhook-delivery.js'
import { downloadPerson, type DownloadDeps } from './person/download-person.js'
import { getPersonRequest } from './person/get-person-request.js'
import { listAssistants, type ReadDeps } from './list-assistants.js'
import { listApiKeys } from './list-api-keys.js'
import { listCalls } from './list-calls.js'
import { listCatalog } from './list-catalog.js'
import { listLeads } from './list-leads.js'
import { listWebhookNotices, type ListNoticesDeps } from './webhook/list-webhook-notices.js'
import { listWebhookDeliveries, type ListDeliveriesDeps } from './webhook/list-webhook-deliveries.js'
import { getWebhookSecret, type WebhookSecretDeps } from './webhook/webhook-secret.js'

export type QueryDeps = ReadDeps & LeadImportQueryDeps & GetAssistantDeps & GetCallDeps & GetMeDeps & IsBlacklistedDeps
  & WebhookSecretDeps & AssistantSecretQueryDeps & GetDeliveryDeps & ListDeliveriesDeps & ListNoticesDeps & DownloadDeps

export function addQueries (app: App, deps: QueryDeps): void {
  listAssistants(app, deps)
  getAssistant(app, deps)
  getAssistantHistory(app, deps)
  listLeads(app, deps)
  getLead(app, deps)
  exportLeads(app, deps)
  getLeadImport(app, deps)
  listImportResults(app, deps)
  listCalls(app, deps)
  getCall(app, deps)
  exportCalls(app, deps)
  getCampaign(app, deps)
  listCatalog(app, deps)
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
