// The leads of a body, in JSON or CSV, each with what is wrong with it: a row that is wrong stops no other one.
import type { Readable } from 'node:stream'
import { CreateLeadBody } from '../../domain/lead/validate.js'
import type { DuplicateRule } from '../../domain/lead-import/events.js'
import { invalid, type FieldErrors } from '../../domain/rejection.js'
import type { Submitted } from '../../domain/validation.js'
import { csvRecords } from '../../http/imports/csv-records.js'
import { firstOfRow } from '../../http/input/named-fields.js'
import { refusedBy } from '../../http/input/refused-by.js'
import { unstorable } from '../../http/input/unstorable.js'

export type SentLead = Submitted<CreateLeadBody>

/** What holds for all leads of an import. */
export interface ForAll { campaign_id: number, if_duplicate: DuplicateRule }

const mostCsvRows = 100_000
const csvLimits = { mostBytes: 64 * 2 ** 20, mostRecordBytes: 256 * 1024 }
/** Of the names of variables. */
const longestName = 255
const mostColumns = 1_000

const refusals = refusedBy(CreateLeadBody)

/** The campaign and what becomes of duplicates are those of the import, whatever its items say. */
export function * leadsOfJson (items: readonly object[], all: ForAll): Generator<SentLead> {
  for (const item of items) yield checked({ ...item, ...ofAll(all) })
}

/**
 * `phone_number` is a column, `customer_name`, `email` and every other one is a variable.
 * @throws Rejection `invalid` for a header or a text that cannot be read, `too-large`
 */
export async function * leadsOfCsv (source: Readable, all: ForAll): AsyncGenerator<SentLead> {
  let columns: string[] | undefined
  let rows = 0
  for await (const record of csvRecords(source, csvLimits)) {
    if (!columns) {
      columns = columnsOf(record)
      continue
    }
    if (++rows > mostCsvRows) throw invalid({ body: [`must hold at most ${mostCsvRows} rows`] })
    yield leadOf(columns, record, all)
  }
  if (!columns) throw invalid({ body: ['must begin with a header line that names phone_number'] })
}

function columnsOf (header: readonly string[]): string[] {
  const problems = [
    !header.includes('phone_number') && 'the header line must name phone_number',
    new Set(header).size < header.length && 'the header line must name each column once',
    header.some((name) => name.trim() === '') && 'the header line must name every column',
    header.some((name) => name === '__proto__') && 'the header line must not name __proto__',
    header.some((name) => name.length > longestName) && `a name in the header line must be at most ${longestName} characters`,
    header.length > mostColumns && `the header line must name at most ${mostColumns} columns`,
    Object.keys(unstorable(header)).length > 0 && 'the header line must not contain NUL characters'
  ].filter((problem) => problem !== false)
  if (problems.length > 0) throw invalid({ body: problems })
  return [...header]
}

function leadOf (columns: readonly string[], cells: readonly string[], all: ForAll): SentLead {
  if (cells.length !== columns.length) {
    const counts = `has ${cells.length} cells, and the header line has ${columns.length}`
    return { body: ofAll(all), refused: { row: [counts] } }
  }
  const entries = columns.map((name, index) => [name, cells[index]] as const)
  const [variables, own] = [entries.filter(([name]) => name !== 'phone_number'), Object.fromEntries(entries)]
  return checked({ phone_number: own.phone_number, variables: Object.fromEntries(variables), ...ofAll(all) })
}

const ofAll = ({ campaign_id, if_duplicate }: ForAll) => ({ campaign_id, allow_dupplicate: if_duplicate === 'allow' })

function checked (body: object): SentLead {
  const refused = { ...unstorable(body), ...refusals(body) }
  if (isSound(body, refused)) return { body }
  return { body: unstorableRemoved(body, refused), refused: firstOfRow(refused) }
}

/** The schema has taken all of it. */
const isSound = (_body: object, refused: FieldErrors): _body is CreateLeadBody => Object.keys(refused).length === 0

/** Of a refused lead only those fields are kept that the rules can still check. */
function unstorableRemoved (body: object, refused: FieldErrors): Partial<CreateLeadBody> {
  const isRefused = (name: string) => Object.keys(refused).some((path) => path === name || path.startsWith(`${name}.`))
  const kept = ['phone_number', 'campaign_id', 'secondary_contacts'].filter((name) => name in body && !isRefused(name))
  return Object.fromEntries(kept.map((name) => [name, Reflect.get(body, name)]))
}
