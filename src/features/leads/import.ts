// One row of an import: the rules of POST /user/lead, under a command id that every repetition of the row has. Whether
// the campaign takes leads, and which numbers must not be called, was looked up for many rows at once.
import type { Blacklists } from '../../commands/phone-numbers.js'
import { whyUnreadable, type HandleCommand } from '../../commands/handle.js'
import { idAt } from '../../domain/events.js'
import { type FieldErrors, Rejection, soundFields, type Submitted } from '../../domain/rejection.js'
import { firstOfRow } from '../../http/field-errors.js'
import type { Services } from '../../services/services.js'
import type { Listed } from '../blacklist/model.js'
import { type CreateLeadBody, isDuplicate, leadDecider, validateLead } from './decide.js'
import { leadStream } from './events.js'
import { numbersOf } from './model.js'

type Importing = Pick<Services, 'phoneHash'> & { handle: HandleCommand }

/** A row on its way. */
interface LeadRow {
  /** The same at each repetition. */
  commandId: string
  importId: string
  userId: string
  submitted: Submitted<CreateLeadBody>
  /** Of its numbers and those of others. An entry that comes later marks the lead, as it does any other one. */
  listed: Listed
  /** The lead's, then one for each secondary contact; the same at each repetition. */
  ids: readonly number[]
  /** Its event may be in the log. */
  isRetry: boolean
}

/** Where each may have an entry, so many streams are read at once. */
const numbersAtOnce = 200

/** Those of all numbers of the rows that their user does not want called. */
export async function listedOf (
  blacklists: Pick<Blacklists, 'listed'>, userId: string, rows: ReadonlyArray<Submitted<CreateLeadBody>>
): Promise<Listed> {
  const numbers = [...new Set(rows.flatMap((row) => numbersOf(soundFields(row))))]
  const listed = new Set<string>()
  for (let from = 0; from < numbers.length; from += numbersAtOnce) {
    for (const number of await blacklists.listed(userId, numbers.slice(from, from + numbersAtOnce))) listed.add(number)
  }
  return listed
}

/** What became of a row, and where its event is in the log. */
type ImportedLead =
  | { outcome: { outcome: 'created', lead_id: number }, position: bigint }
  | { outcome: { outcome: 'duplicate' } | { outcome: 'invalid', errors: FieldErrors }, position?: undefined }

/** Thrown by the decision, which knows the leads of the contact. */
class DuplicateLead extends Error {
  override readonly name = 'DuplicateLead'
}

/** @throws StreamBusy, NotKnownYet and the errors of `Streams`: then the row is repeated */
export async function importLead (services: Importing, row: LeadRow): Promise<ImportedLead> {
  try {
    return await create(services, row)
  } catch (error) {
    if (error instanceof DuplicateLead) return { outcome: { outcome: 'duplicate' } }
    const errors = refusalIn(error)
    if (!errors) throw error
    return { outcome: { outcome: 'invalid', errors: firstOfRow(errors) } }
  }
}

/** Of what stays as it is, however often the row is repeated. */
function refusalIn (error: unknown): FieldErrors | undefined {
  if (error instanceof Rejection) return error.errors ?? { body: [error.message] }
  const why = whyUnreadable(error)
  return why === undefined ? undefined : { phone_number: [why] }
}

/** A row that is in the log was created, though it would be refused by now, or its lead was erased since. */
async function create ({ handle, phoneHash }: Importing, row: LeadRow): Promise<ImportedLead> {
  const { commandId, importId, userId, submitted, listed, ids, isRetry } = row
  const facts = { listed }
  const { campaign_id, phone_number } = submitted.refused ? validateLead(submitted, facts) : submitted.body
  const now = new Date().toISOString()
  const outcome = await handle({
    aggregate: leadDecider,
    stream: leadStream(campaign_id, phoneHash(phone_number)),
    decide (state) {
      const lead = validateLead(submitted, facts)
      if (isDuplicate(lead, state)) throw new DuplicateLead()
      return leadDecider.decide({ ...lead, userId, ids, now }, state)
    },
    origin: { commandId, correlationId: importId, userId, isRetry },
    isNew: true
  })
  return { outcome: { outcome: 'created', lead_id: idAt(ids, 0) }, position: outcome.position }
}
