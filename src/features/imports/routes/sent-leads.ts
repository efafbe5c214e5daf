// The leads of a body, in JSON or CSV, each with what is wrong with it: a row that is wrong stops no other one.
import type { Readable } from 'node:stream'
import { CreateLeadBody } from '../../leads/decide.js'
import type { DuplicateRule } from '../events.js'
import { invalid, type FieldErrors } from '../../../domain/rejection.js'
import type { Submitted } from '../../../domain/validation.js'
import { asItWas, type CsvRecord, csvRecords, plain } from '../../../http/csv.js'
import { firstOfRow, unstorable } from '../../../http/input/field-errors.js'
import { refusedBy } from '../../../http/input/compilers.js'

/** With the number of its row in the file or the list, from 1; a header line is not counted. */
export type SentLead = Submitted<CreateLeadBody> & { row: number }

/** What holds for all leads of an import. */
export interface ForAll { campaign_id: number, if_duplicate: DuplicateRule }

const mostCsvRows = 100_000
/** With those that hold nothing: what a sheet of Excel has. */
const mostRows = 2 ** 20
const csvLimits = { mostBytes: 64 * 2 ** 20, mostRecordBytes: 256 * 1024, mostRows }
/** Of the names of variables. */
const longestName = 255
const mostColumns = 1_000

const refusals = refusedBy(CreateLeadBody)

/** The campaign and what becomes of duplicates are those of the import, whatever its items say. */
export function * leadsOfJson (items: readonly object[], all: ForAll): Generator<SentLead> {
  for (const [index, item] of items.entries()) yield checked({ ...item, ...ofAll(all) }, index + 1)
}

/** The columns of `GET /user/leads/export` that no lead is made of: where all of them are, the file is an export. */
const leftOut = ['id', 'status', 'campaign_id', 'campaign_name', 'created_at', 'updated_at']
const own = ['phone_number', 'customer_name', 'email']
const inJson = ['variables', 'secondary_contacts']

interface Columns { names: readonly string[], isExport: boolean }

/**
 * `phone_number` is a column, `customer_name`, `email` and every other one is a variable. Rows without anything in them
 * are passed over.
 * @throws Rejection `invalid` for a header or a text that cannot be read, `too-large`
 */
export async function * leadsOfCsv (source: Readable, all: ForAll): AsyncGenerator<SentLead> {
  let columns: Columns | undefined
  let leads = 0
  for await (const record of csvRecords(source, csvLimits, plain('phone_number'))) {
    if (!columns) {
      columns = columnsOf(record)
      continue
    }
    if (++leads > mostCsvRows) throw invalid({ body: [`must hold at most ${mostCsvRows} rows`] })
    yield leadOf(columns, record, all)
  }
  if (!columns) throw invalid({ body: ['must begin with a header line that names phone_number'] })
}

function columnsOf (header: readonly string[]): Columns {
  const isExport = leftOut.every((name) => header.some((given) => plain(given) === plain(name)))
  const known = isExport ? [...own, ...inJson, ...leftOut] : own
  const names = header.map((given) => known.find((name) => plain(name) === plain(given)) ?? given)
  const problems = [
    !names.includes('phone_number') && 'the header line must name phone_number',
    new Set(names).size < names.length && 'the header line must name each column once',
    header.some((name) => name.trim() === '') && 'the header line must name every column',
    header.some((name) => name.trim() === '__proto__') && 'the header line must not name __proto__',
    header.some((name) => name.length > longestName) && `a name in the header line must be at most ${longestName} characters`,
    header.length > mostColumns && `the header line must name at most ${mostColumns} columns`,
    Object.keys(unstorable(header)).length > 0 && 'the header line must not contain NUL characters'
  ].filter((problem) => problem !== false)
  if (problems.length > 0) throw invalid({ body: problems })
  return { names, isExport }
}

function leadOf ({ names, isExport }: Columns, cells: CsvRecord, all: ForAll): SentLead {
  const { row } = cells
  if (cells.length !== names.length) {
    const counts = `has ${cells.length} cells, and the header line has ${names.length}`
    return { body: ofAll(all), refused: { row: [counts] }, row }
  }
  const texts = isExport ? cells.map(asItWas) : cells
  const { phone_number, ...others } = Object.fromEntries(names.map((name, index) => [name, texts[index] ?? '']))
  const lead = { phone_number: phone_number?.trim(), ...ofAll(all) }
  return checked({ ...lead, ...isExport ? exported(others) : { variables: others } }, row)
}

/** Further variables and contacts are in a column each. What is no JSON stays a text, which the schema refuses. */
function exported ({ variables = '', secondary_contacts = '', ...others }: Record<string, string>) {
  const more = jsonOf(variables || '{}')
  const kept = Object.entries(others).filter(([name]) => !leftOut.includes(name))
  return {
    variables: isObject(more) ? { ...Object.fromEntries(kept), ...more } : more,
    secondary_contacts: jsonOf(secondary_contacts || '[]')
  }
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null && !Array.isArray(value)

function jsonOf (text: string): unknown {
  try {
    return JSON.parse(text, (key, value: unknown) => {
      if (key === '__proto__') throw new SyntaxError('no name of a variable')
      return value
    })
  } catch {
    return text
  }
}

const ofAll = ({ campaign_id, if_duplicate }: ForAll) => ({ campaign_id, allow_dupplicate: if_duplicate === 'allow' })

function checked (body: object, row: number): SentLead {
  const refused = { ...unstorable(body), ...refusals(body) }
  if (isSound(body, refused)) return { body, row }
  return { body: unstorableRemoved(body, refused), refused: firstOfRow(refused), row }
}

/** The schema has taken all of it. */
const isSound = (_body: object, refused: FieldErrors): _body is CreateLeadBody => Object.keys(refused).length === 0

/** Of a refused lead only those fields are kept that the rules can still check. */
function unstorableRemoved (body: object, refused: FieldErrors): Partial<CreateLeadBody> {
  const isRefused = (name: string) => Object.keys(refused).some((path) => path === name || path.startsWith(`${name}.`))
  const kept = ['phone_number', 'campaign_id', 'secondary_contacts'].filter((name) => name in body && !isRefused(name))
  return Object.fromEntries(kept.map((name) => [name, Reflect.get(body, name)]))
}
