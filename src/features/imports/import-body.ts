// Reads the body that starts an import, JSON or CSV with the common fields in the query string, and stores its leads.
import { createHash, randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest, FastifySchemaCompiler } from 'fastify'
import Type, { type Static, type TSchema } from 'typebox'
import { addPart, removeUnused } from '../../../workers/imports/rows.js'
import { canonicalJson, Id, isObject } from '../../domain/json.js'
import { type FieldErrors, invalid, type Submitted, unstorable } from '../../domain/rejection.js'
import { asItWas, type CsvRecord, csvRecords, plain } from '../../http/csv.js'
import { isCsv, isSound, nameIgnored, refusedBy, validatorCompiler } from '../../http/bodies.js'
import { firstOfRow } from '../../http/field-errors.js'
import { queryErrors } from '../../http/read-position.js'
import type { ApiServices } from '../../services/services.js'
import { CreateLeadBody } from '../leads/decide.js'
import { DuplicateRule } from './events.js'

/** Most imports of a user that have not ended; workers do one, the others wait. */
export const mostImportsOfUser = 5

const mostJsonLeads = 1_000

const { campaign_id: _campaign, allow_dupplicate: _allow, ...leadFields } = CreateLeadBody.properties
const ImportedLead = Type.Object(leadFields, { title: 'ImportedLead' })

const asked = {
  campaign_id: Id({ description: 'Campaign to create the leads for.', examples: [1] }),
  if_duplicate: Type.Optional({ ...DuplicateRule, default: 'skip' })
}

export const ImportBody = Type.Object({
  ...asked,
  leads: Type.Array(ImportedLead, { minItems: 1, maxItems: mostJsonLeads, description: 'As for POST /user/lead.' })
}, { title: 'LeadImportInput' })

export const ImportQuery = Type.Object({
  campaign_id: Type.Optional({
    ...asked.campaign_id, description: 'Campaign to create the leads for: with CSV, or what the JSON says as well.'
  }),
  // The handler adds the default: the validator would hide that it was not sent.
  if_duplicate: Type.Optional({ ...DuplicateRule, description: 'As in the JSON; skip where neither says it.' })
})

/** A wrong lead is a row that is `invalid`, and refuses no other one. */
const LooseBody = Type.Object({
  ...asked,
  campaign_id: Type.Optional(asked.campaign_id),
  leads: Type.Array(Type.Object({}), { minItems: 1, maxItems: mostJsonLeads })
})

/** CSV is checked later, as it is read. */
export const importValidators: FastifySchemaCompiler<TSchema> = (route) => {
  if (route.httpPart !== 'body') return validatorCompiler(route)
  const takesAll = (schema: TSchema) => !('properties' in schema)
  return takesAll(route.schema) ? () => true : validatorCompiler({ ...route, schema: LooseBody })
}

interface ImportRequest { all: ForAll, leads: AsyncIterable<SentLead> | Iterable<SentLead> }

/** Reads nothing of CSV yet. @throws Rejection `invalid` with all errors that need no reading */
export function importRequest (request: FastifyRequest, reply: FastifyReply): ImportRequest {
  const { body } = request
  const query: Static<typeof ImportQuery> = Object(request.query)
  const inBody = !isCsv(request) && isImport(body) ? body : { leads: [] }
  const { campaign_id, if_duplicate = 'skip' } = { ...query, ...inBody }
  const refused: FieldErrors = { ...differing(query, inBody), ...queryErrors(request) }
  if (!isCsv(request) && !isImport(body)) refused.body ??= ['must be a JSON object']
  if (campaign_id === undefined && !refused.body) refused.campaign_id ??= ['is required']
  if (campaign_id === undefined || Object.keys(refused).length > 0) throw invalid(refused)
  const all = { campaign_id, if_duplicate }
  if (isCsv(request)) return { all, leads: leadsOfCsv(body instanceof Readable ? body : Readable.from([]), all) }
  nameIgnored(reply, inBody, ImportBody.properties)
  return { all, leads: leadsOfJson(inBody.leads, all) }
}

/** JSON has the common fields in the body; the query string may repeat them, or say what the body leaves out. */
function differing (query: Static<typeof ImportQuery>, body: Static<typeof ImportQuery>): FieldErrors {
  const names = (['campaign_id', 'if_duplicate'] as const).filter((name) =>
    query[name] !== undefined && body[name] !== undefined && String(query[name]) !== String(body[name]))
  return Object.fromEntries(names.map((name) => [name, ['must be the same in the query string and the body']]))
}

/** The schema of the route has validated it. */
const isImport = (body: unknown): body is Static<typeof LooseBody> => typeof body === 'object' && body !== null

/** `row` is its number in the file or the list, from 1, without the header line. */
type SentLead = Submitted<CreateLeadBody> & { row: number }

/** The common fields of all leads of an import. */
interface ForAll { campaign_id: number, if_duplicate: DuplicateRule }

const mostCsvRows = 100_000
/** Including empty rows; a sheet of Excel has as many. */
const mostRows = 2 ** 20
const csvLimits = { mostBytes: 64 * 2 ** 20, mostRecordBytes: 256 * 1024, mostRows }
/** Characters of the name of a variable. */
const longestName = 255
const mostColumns = 1_000

const refusals = refusedBy(CreateLeadBody)

/** The campaign and the duplicate rule are those of the import, whatever its items say. */
function * leadsOfJson (items: readonly object[], all: ForAll): Generator<SentLead> {
  for (const [index, item] of items.entries()) yield checked({ ...item, ...ofAll(all) }, index + 1)
}

/** Columns of `GET /user/leads/export` that an import ignores. A file that has all of them is an export. */
const leftOut = ['id', 'status', 'campaign_id', 'campaign_name', 'created_at', 'updated_at']
const own = ['phone_number', 'customer_name', 'email']
const inJson = ['variables', 'secondary_contacts']

interface Columns { names: readonly string[], isExport: boolean }

/**
 * The column `phone_number` is the number; every other one, also `customer_name` and `email`, is a variable. Skips
 * empty rows.
 * @throws Rejection `invalid` for a header or a text that cannot be read, `too-large`
 */
async function * leadsOfCsv (source: Readable, all: ForAll): AsyncGenerator<SentLead> {
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

/** An export has other variables and contacts as JSON. What is no JSON stays a text, which the schema refuses. */
function exported ({ variables = '', secondary_contacts = '', ...others }: Record<string, string>) {
  const more = jsonOf(variables || '{}')
  const kept = Object.entries(others).filter(([name]) => !leftOut.includes(name))
  return {
    variables: isObject(more) ? { ...Object.fromEntries(kept), ...more } : more,
    secondary_contacts: jsonOf(secondary_contacts || '[]')
  }
}

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
  if (isSound<CreateLeadBody>(body, refused)) return { body, row }
  return { body: unstorableRemoved(body, refused), refused: firstOfRow(refused), row }
}

/** Keeps only those fields of a refused lead that the rules can still check. */
function unstorableRemoved (body: object, refused: FieldErrors): Partial<CreateLeadBody> {
  const isRefused = (name: string) => Object.keys(refused).some((path) => path === name || path.startsWith(`${name}.`))
  const kept = ['phone_number', 'campaign_id', 'secondary_contacts'].filter((name) => name in body && !isRefused(name))
  return Object.fromEntries(kept.map((name) => [name, Reflect.get(body, name)]))
}

/** The stored leads of a body. */
export interface Upload {
  id: string
  total: number
  /** SHA-256 of all leads, in hexadecimal digits. */
  digest: string
  /** The import that uses them, once there may be one. */
  importId?: string
}

/** A worker does a part in about a second, and repeats it if it is killed. */
const mostRowsOfPart = 500
const mostBytesOfPart = 512 * 1024

/** Yields leads in turns, so that others get theirs. */
export async function * inTurns (
  turn: () => Promise<number>, leads: ImportRequest['leads']
): AsyncGenerator<SentLead> {
  let until = 0
  for await (const lead of leads) {
    if (performance.now() >= until) until = await turn()
    yield lead
  }
}

/** Stores the leads while `use` makes an import of them. Removes them if no import uses them in the end. */
export async function whileKept<Result> (
  pool: ApiServices['pool'], userId: string, leads: ImportRequest['leads'], use: (upload: Upload) => Promise<Result>
): Promise<Result> {
  const upload: Upload = { id: randomUUID(), total: 0, digest: '' }
  try {
    Object.assign(upload, await keepLeads(pool, { id: upload.id, userId }, leads))
    return await use(upload)
  } finally {
    await removeUnused(pool, upload.id, upload.importId).catch(() => {}) // if this fails, they are removed as orphans
  }
}

async function keepLeads (
  pool: ApiServices['pool'], upload: { id: string, userId: string }, leads: ImportRequest['leads']
): Promise<Pick<Upload, 'total' | 'digest'>> {
  const hash = createHash('sha256')
  let part: SentLead[] = []
  let [total, bytes] = [0, 0]
  const keep = async () => {
    const kept = part
    part = []
    bytes = 0
    if (kept[0]) await addPart(pool, upload, kept[0].row, kept)
  }
  for await (const lead of leads) {
    const text = canonicalJson(lead) ?? ''
    hash.update(text).update('\n')
    part.push(lead)
    total++
    bytes += text.length
    if (part.length === mostRowsOfPart || bytes >= mostBytesOfPart) await keep()
  }
  await keep()
  return { total, digest: hash.digest('hex') }
}
