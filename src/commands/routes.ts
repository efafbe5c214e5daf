// Every command of the API; `app.ts` adds them.
import type { App } from '../http/app-types.js'
import { createApiKey, type CreateApiKeyDeps } from './api-key/create-api-key.js'
import { revokeApiKey, type RevokeApiKeyDeps } from './api-key/revoke-api-key.js'
import { createAssistant } from './assistant/create-assistant.js'
import { deleteAssistant } from './assistant/delete-assistant.js'
import { restoreAssistant } from './assistant/restore-assistant.js'
import { updateAssistant, type UpdateAssistantDeps } from './assistant/update-assistant.js'
import { addToBlacklist, type BlacklistDeps } from './blacklist/add-to-blacklist.js'
import { deleteFromBlacklist } from './blacklist/delete-from-blacklist.js'
import type { CampaignDeps } from './campaign/campaign-command.js'
import { createCampaign } from './campaign/create-campaign.js'
import { deleteCampaign } from './campaign/delete-campaign.js'
import { updateCampaign } from './campaign/update-campaign.js'
import { completeCall, type CallDeps } from './complete-call.js'
import { createLead } from './lead/create-lead.js'
import { deleteLead } from './lead/delete-lead.js'
import type { LeadDeps } from './lead/lead-command.js'
import { updateLead } from './lead/update-lead.js'
import { importLeads, type LeadImportDeps } from './lead-import/import-leads.js'
import type { PersonDeps } from './person/begin-request.js'
import { erasePerson } from './person/erase-person.js'
import { exportPerson } from './person/export-person.js'
import { addPhoneNumber, type PhoneNumberDeps } from './phone-number/add-phone-number.js'
import { releasePhoneNumber } from './phone-number/release-phone-number.js'
import { changeAssistantSecret, type AssistantSecretDeps } from './webhook/assistant-secret.js'
import { recoverWebhooks, type RecoverWebhooksDeps } from './webhook/recover-webhooks.js'
import { redeliverWebhook, type RedeliverDeps } from './webhook/redeliver-webhook.js'
import { resumeWebhook, type ResumeWebhookDeps } from './webhook/resume-webhook.js'
import { rotateWebhookSecret, type RotateSecretDeps } from './webhook/rotate-webhook-secret.js'
import { testWebhook, type TestWebhookDeps } from './webhook/test-webhook.js'

export type CommandDeps = UpdateAssistantDeps & CampaignDeps & PhoneNumberDeps & LeadDeps & LeadImportDeps &
  CreateApiKeyDeps & RevokeApiKeyDeps & BlacklistDeps & PersonDeps & CallDeps & RedeliverDeps & TestWebhookDeps &
  ResumeWebhookDeps & RotateSecretDeps & AssistantSecretDeps & RecoverWebhooksDeps

const commands = [
  createAssistant, updateAssistant, deleteAssistant, restoreAssistant,
  createCampaign, updateCampaign, deleteCampaign,
  addPhoneNumber, releasePhoneNumber,
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
