// Every command of the API; `app.ts` adds them.
import type { App } from '../http/app-types.js'
import { createApiKey, type CreateApiKeyDeps } from './api-keys/routes/create-api-key.js'
import { revokeApiKey, type RevokeApiKeyDeps } from './api-keys/routes/revoke-api-key.js'
import { addAssistantCommands, type AssistantServices } from './assistants/routes.js'
import { addToBlacklist, type BlacklistDeps } from './blacklist/routes/add-to-blacklist.js'
import { deleteFromBlacklist } from './blacklist/routes/delete-from-blacklist.js'
import { addCampaigns } from './campaigns/routes.js'
import { completeCall, type CallDeps } from './calls/routes/complete-call.js'
import { createLead, deleteLead, type LeadDeps, updateLead } from './leads/routes.js'
import { importLeads, type LeadImportDeps } from './imports/routes/import-leads.js'
import type { PersonDeps } from './persons/routes/begin-request.js'
import { erasePerson } from './persons/routes/erase-person.js'
import { exportPerson } from './persons/routes/export-person.js'
import { addPhoneNumbers, type PhoneNumberServices } from './phone-numbers/routes.js'
import { changeAssistantSecret, type AssistantSecretDeps } from './webhooks/routes/assistant-secret.js'
import { recoverWebhooks, type RecoverWebhooksDeps } from './webhooks/routes/recover-webhooks.js'
import { redeliverWebhook, type RedeliverDeps } from './webhooks/routes/redeliver-webhook.js'
import { resumeWebhook, type ResumeWebhookDeps } from './webhooks/routes/resume-webhook.js'
import { rotateWebhookSecret, type RotateSecretDeps } from './webhooks/routes/rotate-webhook-secret.js'
import { testWebhook, type TestWebhookDeps } from './webhooks/routes/test-webhook.js'

export type CommandDeps = AssistantServices & PhoneNumberServices & LeadDeps & LeadImportDeps &
  CreateApiKeyDeps & RevokeApiKeyDeps & BlacklistDeps & PersonDeps & CallDeps & RedeliverDeps & TestWebhookDeps &
  ResumeWebhookDeps & RotateSecretDeps & AssistantSecretDeps & RecoverWebhooksDeps

const commands = [
  addAssistantCommands, addCampaigns, addPhoneNumbers,
  createLead, updateLead, deleteLead, importLeads,
  createApiKey, revokeApiKey,
  addToBlacklist, deleteFromBlacklist,
  exportPerson, erasePerson,
  completeCall,
  redeliverWebhook, testWebhook, resumeWebhook, rotateWebhookSecret, changeAssistantSecret, recoverWebhooks
]

export function addCommands (app: App, deps: CommandDeps): void {
  for (const add of commands) add(app, deps)
}
