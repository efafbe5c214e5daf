// Imports one row by the rules of POST /user/lead. Every retry of the row has the same command id. The caller looks up
// the campaign and the do-not-call list for many rows at once.
import type { Blacklists } from '../../commands/phone-numbers.js'
import { isTooLarge, whyUnreadable, type HandleCommand } from '../../commands/handle.js'
import { idAt } from '../../domain/events.js'
import { type FieldErrors, Rejection, soundFields, type Submitted } from '../../domain/rejection.js'
import { firstOfRow } from '../../http/field-errors.js'
import type { Services } from '../../services/services.js'
import type { Listed } from '../blacklist/model.js'
import { type CreateLeadBody, isDuplicate, leadDecider, validateLead } from './decide.js'
import { leadStream } from './events.js'
import { numbersOf } from './model.js'

type Importing = Pick<Services, 'phoneHash'> & { handle: HandleCommand }

interface LeadRow {
  /** The same at each retry. */
  commandId: string
  importId: string
  userId: string
  submitted: Submitted<CreateLeadBody>
  /** Listed numbers of many rows. An entry that comes later marks this lead like any other. */
  listed: Listed
  /** The lead's, then one for each secondary contact; the same at each retry. */
  ids: readonly number[]
  /** Its event may be in the log already. */
  isRetry: boolean
  isCampaignDeleted: boolean
}

/** Each number may have a stream, so this many streams are read at once. */
const numbersAtOnce = 200

/** All numbers of the rows that are on their user's do-not-call list. */
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

/** The outcome of a row, and the position of its event. */
type ImportedLead =
  | { outcome: { outcome: 'created', lead_id: number }, position: bigint }
  | { outcome: { outcome: 'duplicate' } | { outcome: 'invalid', errors: FieldErrors }, position?: undefined }

/** @throws StreamBusy, NotKnownYet and the errors of `Streams`: then the caller retries the row */
export async function importLead (services: Importing, row: LeadRow): Promise<ImportedLead> {
  try {
    return await create(services, row)
  } catch (error) {
    const errors = refusalIn(error)
    if (!errors) throw error
    return { outcome: { outcome: 'invalid', errors: firstOfRow(errors) } }
  }
}

/** The errors of a row, if every retry would meet them again. */
function refusalIn (error: unknown): FieldErrors | undefined {
  if (error instanceof Rejection) return error.errors ?? { body: [error.message] }
  if (isTooLarge(error)) return { row: ['is too large'] }
  const why = whyUnreadable(error)
  return why === undefined ? undefined : { phone_number: [why] }
}

/** If the row's event is in the log, the row was created, even if the rules refuse it by now or its lead was erased. */
async function create ({ handle, phoneHash }: Importing, row: LeadRow): Promise<ImportedLead> {
  const { commandId, importId, userId, submitted, listed, ids, isRetry, isCampaignDeleted } = row
  const facts = { listed, isCampaignDeleted }
  const { campaign_id, phone_number } = submitted.refused ? validateLead(submitted, facts) : submitted.body
  const now = new Date().toISOString()
  const outcome = await handle({
    aggregate: leadDecider,
    stream: leadStream(campaign_id, phoneHash(phone_number)),
    decide (state) {
      const lead = validateLead(submitted, facts)
      if (isDuplicate(lead, state)) return []
      return leadDecider.decide({ ...lead, userId, ids, now }, state)
    },
    origin: { commandId, correlationId: importId, userId, isRetry },
    isNew: true
  })
  if (!outcome.isAppended && !outcome.wasHandled) return { outcome: { outcome: 'duplicate' } }
  return { outcome: { outcome: 'created', lead_id: idAt(ids, 0) }, position: outcome.position }
}
