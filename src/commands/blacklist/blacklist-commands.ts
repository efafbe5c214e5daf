// Every command of the do-not-call list; `routes.ts` adds them.
import type { App } from '../../http/app-types.js'
import { addToBlacklist, type BlacklistDeps } from './add-to-blacklist.js'
import { deleteFromBlacklist } from './delete-from-blacklist.js'

export type { BlacklistDeps }

export function addBlacklistCommands (app: App, deps: BlacklistDeps): void {
  addToBlacklist(app, deps)
  deleteFromBlacklist(app, deps)
}
