// Every command of the API; `app.ts` adds them.
import type { App } from '../http/app-types.js'
import { addApiKeyCommands, type ApiKeyServices } from './api-keys/routes.js'
import { addAssistantCommands, type AssistantServices } from './assistants/routes.js'
import { addToBlacklist, type BlacklistDeps, deleteFromBlacklist } from './blacklist/routes.js'
import { addCampaigns } from './campaigns/routes.js'
import { type CallDeps, completeCall } from './calls/routes.js'
import { createLead, deleteLead, type LeadDeps, updateLead } from './leads/routes.js'
import { importLeads, type LeadImportDeps } from './imports/routes.js'
import type { PersonDeps } from './persons/routes/begin-request.js'
import { erasePerson } from './persons/routes/erase-person.js'
import { exportPerson } from './persons/routes/export-person.js'
import { addPhoneNumbers, type PhoneNumberServices } from './phone-numbers/routes.js'
import {
  type AssistantSecretDeps, changeAssistantSecret, type RotateSecretDeps, rotateWebhookSecret
} from './webhooks/routes-secrets.js'
import {
  recoverWebhooks, type RecoverWebhooksDeps, type RedeliverDeps, redeliverWebhook, resumeWebhook,
  type ResumeWebhookDeps, testWebhook, type TestWebhookDeps
} from './webhooks/routes.js'

export type CommandDeps = AssistantServices & PhoneNumberServices & LeadDeps & LeadImportDeps &
  ApiKeyServices & BlacklistDeps & PersonDeps & CallDeps & RedeliverDeps & TestWebhookDeps &
  ResumeWebhookDeps & RotateSecretDeps & AssistantSecretDeps & RecoverWebhooksDeps

const commands = [
  addAssistantCommands, addCampaigns, addPhoneNumbers,
  createLead, updateLead, deleteLead, importLeads,
  addApiKeyCommands,
  addToBlacklist, deleteFromBlacklist,
  exportPerson, erasePerson,
  completeCall,
  redeliverWebhook, testWebhook, resumeWebhook, rotateWebhookSecret, changeAssistantSecret, recoverWebhooks
]

export function addCommands (app: App, deps: CommandDeps): void {
  for (const add of commands) add(app, deps)
}
