// Every command of the API; `app.ts` adds them.
import type { App } from '../http/app-types.js'
import { addApiKeyCommands, type ApiKeyDeps } from './api-key/api-key-commands.js'
import { addAssistantCommands, type AssistantDeps } from './assistant/assistant-commands.js'
import { addBlacklistCommands, type BlacklistDeps } from './blacklist/blacklist-commands.js'
import type { CampaignDeps } from './campaign/campaign-command.js'
import { addCampaignCommands } from './campaign/campaign-commands.js'
import { completeCall, type CallDeps } from './complete-call.js'
import { addLeadCommands, type LeadDeps } from './lead/lead-commands.js'
import { importLeads, type LeadImportDeps } from './lead-import/import-leads.js'
import type { PersonDeps } from './person/begin-request.js'
import { erasePerson } from './person/erase-person.js'
import { exportPerson } from './person/export-person.js'
import { addPhoneNumberCommands, type PhoneNumberDeps } from './phone-number/phone-number-commands.js'
import { addWebhookCommands, type WebhookCommandDeps } from './webhook/webhook-commands.js'

export type CommandDeps = AssistantDeps & CampaignDeps & PhoneNumberDeps & LeadDeps & LeadImportDeps & ApiKeyDeps &
  BlacklistDeps & PersonDeps & CallDeps & WebhookCommandDeps

export function addCommands (app: App, deps: CommandDeps): void {
  addAssistantCommands(app, deps)
  addCampaignCommands(app, deps)
  addPhoneNumberCommands(app, deps)
  addLeadCommands(app, deps)
  importLeads(app, deps)
  addApiKeyCommands(app, deps)
  addBlacklistCommands(app, deps)
  exportPerson(app, deps)
  erasePerson(app, deps)
  completeCall(app, deps)
  addWebhookCommands(app, deps)
}
