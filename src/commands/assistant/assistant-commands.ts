// Every command of an assistant; `routes.ts` adds them.
import type { App } from '../../http/app-types.js'
import { createAssistant } from './create-assistant.js'
import { deleteAssistant } from './delete-assistant.js'
import { restoreAssistant } from './restore-assistant.js'
import { updateAssistant, type UpdateAssistantDeps } from './update-assistant.js'

export type AssistantDeps = UpdateAssistantDeps

export function addAssistantCommands (app: App, deps: AssistantDeps): void {
  createAssistant(app, deps)
  updateAssistant(app, deps)
  deleteAssistant(app, deps)
  restoreAssistant(app, deps)
}
