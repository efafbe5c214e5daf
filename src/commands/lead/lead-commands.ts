// Every command of a lead; `routes.ts` adds them.
import type { App } from '../../http/app-types.js'
import { createLead } from './create-lead.js'
import { deleteLead } from './delete-lead.js'
import type { LeadDeps } from './lead-command.js'
import { updateLead } from './update-lead.js'

export type { LeadDeps }

export function addLeadCommands (app: App, deps: LeadDeps): void {
  createLead(app, deps)
  updateLead(app, deps)
  deleteLead(app, deps)
}
