// One row of an import: the rules of POST /user/lead, under a command id that every repetition of the row has. Whether
// the campaign takes leads was looked up for many rows at once.
import type { Blacklists } from '../../command-handling/blacklist/blacklists.js'
import type { CommandHandler } from '../../command-handling/handle-command.js'
import { numbersOf } from '../../domain/blacklist/listed.js'
import { isDuplicate, leadDecider } from '../../domain/lead/decide.js'
import { leadStream } from '../../domain/lead/events.js'
import { createdLead } from '../../domain/lead/evolve.js'
import { validateLead, type CreateLeadBody } from '../../domain/lead/validate.js'
import { Rejection, type FieldErrors } from '../../domain/rejection.js'
import { soundFields, type Submitted } from '../../domain/validation.js'

export interface ImportLeadDeps {
  commands: Pick<CommandHandler, 'handle'>
  blacklists: Blacklists
  phoneHash (phoneNumber: string): string
}

/** A row on its way. */
export interface LeadRow {
  /** The same at each repetition. */
  commandId: string
  importId: string
  userId: string
  submitted: Submitted<CreateLeadBody>
  /** The lead's, then one for each secondary contact; the same at each repetition. */
  ids: readonly number[]
  /** Its event may be in the log. */
  isRetry: boolean
}

/** What became of a row, and where its event is in the log. */
export type ImportedLead =
  | { outcome: { outcome: 'created', lead_id: number }, position: bigint }
  | { outcome: { outcome: 'duplicate' } | { outcome: 'invalid', errors: FieldErrors }, position?: undefined }

/** Thrown by the decision, which knows the leads of the contact. */
class DuplicateLead extends Error {
  override readonly name = 'DuplicateLead'
}

/** @throws StreamBusy, NotKnownYet and the errors of `Streams`: then the row is repeated */
export async function importLead (deps: ImportLeadDeps, row: LeadRow): Promise<ImportedLead> {
  try {
    return await create(deps, row)
  } catch (error) {
    if (error instanceof DuplicateLead) return { outcome: { outcome: 'duplicate' } }
    if (!(error instanceof Rejection)) throw error
    return { outcome: { outcome: 'invalid', errors: error.errors ?? { body: [error.message] } } }
  }
}

/** A row that is in the log was created, though it would be refused by now. */
async function create (deps: ImportLeadDeps, row: LeadRow): Promise<ImportedLead> {
  const { commandId, importId, userId, submitted, ids, isRetry } = row
  const facts = { listed: await deps.blacklists.listed(userId, numbersOf(soundFields(submitted))) }
  const { campaign_id, phone_number } = submitted.refused ? validateLead(submitted, facts) : submitted.body
  const now = new Date().toISOString()
  const outcome = await deps.commands.handle({
    aggregate: leadDecider,
    stream: leadStream(campaign_id, deps.phoneHash(phone_number)),
    decide (state) {
      const lead = validateLead(submitted, facts)
      if (isDuplicate(lead, state)) throw new DuplicateLead()
      return leadDecider.decide({ ...lead, userId, ids, now }, state)
    },
    origin: { commandId, correlationId: importId, userId, isRetry },
    isNew: true
  })
  return { outcome: { outcome: 'created', lead_id: createdLead(outcome.state, ids).id }, position: outcome.position }
}
