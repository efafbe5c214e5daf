// Every command of a phone number; `routes.ts` adds them.
import type { App } from '../../http/app-types.js'
import { addPhoneNumber, type PhoneNumberDeps } from './add-phone-number.js'
import { releasePhoneNumber } from './release-phone-number.js'

export type { PhoneNumberDeps }

export function addPhoneNumberCommands (app: App, deps: PhoneNumberDeps): void {
  addPhoneNumber(app, deps)
  releasePhoneNumber(app, deps)
}
