// The routes of imports: start one, and read what became of its rows.
import type { FastifyReply, FastifyRequest } from 'fastify'
import Type from 'typebox'
import { takesLeads } from '../../../projections/catalog.js'
import {
  acceptRequest, countUnfinished, findRequest, listImports, prepareRequest, type RequestStatus
} from '../../../workers/work/requests.js'
import { type ImportProgress, leadImportKind, nothingDone } from '../../../workers/imports/lead-imports.js'
import { eachResult, listResults, type RowResult } from '../../../workers/imports/rows.js'
import { customer, customerNumber } from '../../domain/examples.js'
import { At, GivenId, Id, isUuid, Nullable } from '../../domain/json.js'
import { type FieldErrors, invalid as refuse, notOwn, problem, Rejection, soundBody } from '../../domain/rejection.js'
import { importPath } from '../../http/app-types.js'
import { command } from '../../http/command-route.js'
import { accepts, addToVary } from '../../http/edge.js'
import { answered, example, invalid, refusal, withMessage, writeHeaders } from '../../http/docs/describe.js'
import { importedRow, importId, leadImport, page } from '../../http/docs/examples.js'
import { bom, type Exported, namesAsColumns, onlyCsv, sendExport } from '../../http/exports.js'
import { Bursts, onceGone, untilGone } from '../../http/limits.js'
import { PageOf, Paging } from '../../http/lists.js'
import { reading } from '../../http/read-position.js'
import type { ApiServices } from '../../services/services.js'
import { type AddRoute, list, route } from '../route.js'
import { Count, DuplicateRule, LeadImportStatus, leadImportStream } from './events.js'
import {
  ImportBody, ImportQuery, importRequest, importValidators, inTurns, mostImportsOfUser, whileKept
} from './import-body.js'
import { requestDecider } from './model.js'

const tags = ['leads']

const started = 'Import started'
const tooMany = 'Too many of your imports are under way: wait until one of them has ended.'
const Begun = Type.Object({ id: Type.String(), status: LeadImportStatus }, { title: 'BegunLeadImport' })

const newImport = { campaign_id: 1, leads: [{ phone_number: customerNumber, variables: customer }] }
const newCsv = `phone_number,customer_name,email,plan\r\n${customerNumber},${customer.customer_name},,yearly\r\n`
const json = { schema: example(ImportBody, newImport) }
const csv = { schema: Type.String({ examples: [newCsv] }) }

/** The body that the Idempotency-Key stands for: the same for JSON and CSV. */
const Asked = Type.Object({
  campaign_id: Id({}), if_duplicate: DuplicateRule, total: Type.Integer(), digest: Type.String()
})

const importLeads: AddRoute = (app, services) => {
  const { handle, pool } = services
  const uploads = new Uploads()
  const readings = new WeakMap<FastifyRequest, ReturnType<Uploads['begin']>>()

  /** Runs before the body is read. Uploads that are being read count, too. */
  async function refuseTooMany (request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const { user: { id: userId }, routeOptions: { url = '' }, headers } = request
    const others = uploads.reading(userId)
    const reading = uploads.begin(userId)
    onceGone(untilGone(request, reply), reading.end)
    readings.set(request, reading)
    const asked = [userId, 'POST', url, headers['idempotency-key']?.toString()] as const
    const underWay = await countUnfinished(pool, leadImportKind, asked) ?? 0
    if (others + underWay < mostImportsOfUser) return
    reading.end()
    throw new Rejection('too-many', tooMany)
  }

  const { onRequest, ...options } = command('user', 'Starting the import failed', ['Idempotency-Key'], {
    tags,
    operationId: 'importLeads',
    summary: 'Import leads',
    description: 'In the background: a row that is wrong, or a phone number that is a lead of the campaign already, stops no ' +
      'other one. At most 1,000 leads and 2 MiB in JSON, 100,000 rows and 64 MiB in CSV, which arrives within a minute and ' +
      'begins with a header line: `phone_number`, `customer_name`, `email`, in any case and with any blanks, and every other ' +
      'column is a variable. Commas, semicolons or tabs are between cells; UTF-8 and UTF-16 are taken, and so is what ' +
      '`GET /user/leads/export` answers. Rows without anything in them are passed over. At most 5 of your imports are under way. What became of the rows is kept for 30 days.',
    querystring: ImportQuery,
    body: { content: { 'application/json': json, 'text/csv': csv } },
    response: {
      202: withMessage('It is worked on.', Begun, {
        message: started, data: { id: importId, status: 'processing' }
      }, writeHeaders, 'StartedLeadImport'),
      422: invalid({ campaign_id: ['must be one of your campaigns'], body: ['row 17 cannot be read: a quote is never closed'] }),
    }
  }, { mostValues: 50_000, takesCsv: true })

  app.post('/user/leads/import', {
    ...options, bodyLimit: 2 * 2 ** 20, validatorCompiler: importValidators, onRequest: [onRequest, refuseTooMany]
  }, async (request, reply) => {
    const { all, leads } = importRequest(request, reply)
    const { id: userId } = request.user
    const mayBeKept = request.headers['idempotency-key'] !== undefined // a kept answer comes before the rules
    const mayTake = mayBeKept || await takesLeads(services, userId, all.campaign_id)
    if (!mayTake) throw refuse({ campaign_id: [notYours] }) // before rows are read
    const reading = readings.get(request) ?? uploads.begin(userId)
    return await whileKept(pool, userId, inTurns(reading.turn, leads), async (upload) => {
      reading.end() // from here on its row counts
      const { total, digest } = upload
      request.body = { ...all, total, digest }
      return await handle(request, reply.code(202), {
        body: Asked,
        facts: async ({ campaign_id = 0 }) => ({ isOpen: await takesLeads(services, userId, campaign_id) }),
        validate: (submitted, { isOpen }) => soundBody(submitted, [
          isOpen === false && problem('campaign_id', notYours),
          total === 0 && problem('body', 'must hold at least one row')
        ]),
        stream: (_body, _ids, _facts, commandId) => leadImportStream(commandId),
        async first ({ campaign_id: campaignId }, _ids, { commandId: id }) {
          upload.importId = id
          const input = { upload_id: upload.id, campaign_id: campaignId }
          const asked = { id, kind: leadImportKind, userId, input, progress: nothingDone(total) }
          const isTaken = await prepareRequest(pool, asked, mostImportsOfUser)
          if (!isTaken) throw new Rejection('too-many', tooMany)
        },
        decider: requestDecider,
        async answer ({ state }) {
          upload.importId = state.import_id
          return { message: started, data: await begun(services, userId, state.import_id) }
        }
      })
    })
  })
}

const notYours = 'must be one of your campaigns'

/** The event is in the log, so a failure here does not fail the command. The reconciler repeats this step. */
async function begun ({ pool }: ApiServices, userId: string, id: string) {
  const found = await acceptRequest(pool, id).then(() => find(pool, userId, id)).catch(() => undefined)
  return { id, status: found && found.state !== 'accepted' ? found.state : 'processing' as const }
}

const find = (pool: ApiServices['pool'], userId: string, id: string) =>
  findRequest<ImportProgress>(pool, [leadImportKind], userId, id)

const LeadImport = Type.Object({
  id: Type.String(),
  status: LeadImportStatus,
  total: Count('Rows that were sent.'),
  processed: Count('Rows that are done.'),
  created: Count('Rows that became a lead.'),
  duplicates: Count('Rows whose phone number was a lead of the campaign already.'),
  invalid: Count('Rows that were refused.'),
  reason: Nullable(Type.String(), { description: 'Why it failed: the rows that are left cannot be imported.' }),
  created_at: At(),
  finished_at: Nullable(At())
}, { title: 'LeadImport' })

const notFound = () => notOwn('Import')

const getLeadImport = route('GET', '/user/lead-import/:id', reading('leads', {
  tags,
  operationId: 'getLeadImport',
  summary: 'Get an import',
  description: 'How far it is. It is kept for 30 days after its end.',
  params: importPath,
  response: {
    200: answered('The import.', Type.Object({ data: LeadImport }, { title: 'FoundLeadImport' }), { data: leadImport }),
    404: refusal(notFound().message)
  }
}), ({ pool }) => async ({ user, params }) => ({ data: describe(await ownImport(pool, user.id, params.id)) }))

function describe ({ id, state, progress, reason, created_at, finished_at }: RequestStatus<ImportProgress>) {
  const { total = 0, processed = 0, created = 0, duplicates = 0, invalid = 0 } = progress
  const counts = { total, processed, created, duplicates, invalid }
  return { id, status: state === 'accepted' ? 'processing' as const : state, ...counts, reason, created_at, finished_at }
}

const listLeadImports = list('/user/lead-imports', {
  source: 'leads',
  perPage: 15,
  keys: ['time', 'uuid'],
  item: LeadImport,
  example: leadImport,
  tags,
  operationId: 'listLeadImports',
  summary: 'List your imports',
  description: 'The newest first. An import is kept for 30 days after its end.'
}, async ({ pool }, page, { user }) => {
  const { items, ...place } = await listImports<ImportProgress>(pool, user.id, page)
  return { items: items.map(describe), ...place }
})

/** @throws Rejection `not-found` */
async function ownImport (
  pool: ApiServices['pool'], userId: string, id: string
): Promise<RequestStatus<ImportProgress>> {
  const found = isUuid(id) ? await find(pool, userId, id) : undefined
  if (!found) throw notFound()
  return found
}

const Result = Type.Object({
  row: Type.Integer({ minimum: 1, description: 'Number of the row in the list or the file. The first row after the header line is 1; empty rows count.' }),
  outcome: Type.Enum(['created', 'duplicate', 'invalid'], { title: 'ImportedRowOutcome' }),
  lead_id: Nullable(GivenId(), { description: 'Id of the lead that was created.' }),
  errors: Type.Unsafe<FieldErrors | null>({
    type: ['object', 'null'],
    additionalProperties: Type.Array(Type.String()),
    description: 'Why the row is invalid, by field, as in a 422; `row` where it has too many or too few cells, and how ' +
      'many more errors there are than the first 5. Null of further rows, where an import has 20 MiB of errors.'
  })
}, { title: 'ImportedRow' })

const results: Exported<RowResult> = {
  name: 'import-results',
  columns: [
    ...namesAsColumns(['row', 'outcome', 'lead_id']),
    ['errors', ({ errors }) => Object.entries(errors ?? {}).map(([field, words]) => `${field} ${words.join(', ')}`).join('; ')]
  ]
}

const paging = new Paging('import-results', 100, ['whole'])

const listImportResults = route('GET', '/user/lead-import/:id/results', reading('leads', {
  tags,
  operationId: 'listLeadImportResults',
  summary: 'List what became of the rows of an import',
  description: 'In their order, as far as they are done. With `Accept: text/csv` all of them are streamed as CSV.',
  params: importPath,
  querystring: Type.Object({ ...paging.parameters, bom }),
  response: {
    200: answered('The page that was asked for.', PageOf(Result), page(100, importedRow)), 404: refusal(notFound().message)
  }
}, (request) => accepts(request, 'text/csv') ? 'export' : 'list', paging), ({ pool }) => async (request, reply) => {
  const { user, params, query } = request
  const { id } = await ownImport(pool, user.id, params.id)
  addToVary(reply, 'Accept')
  if (accepts(request, 'text/csv')) {
    return await sendExport(request, reply, { format: 'csv', bom: query.bom }, results, (visit, signal) =>
      eachResult(pool, id, visit, signal))
  }
  if (query.bom) throw refuse({ bom: [onlyCsv] })
  return paging.answer(query, await listResults(pool, id, paging.requested(query)))
})

interface User { reading: number, turn: Promise<number> }

/** How many files of a user are being read, and whose turn it is. */
class Uploads {
  readonly #users = new Map<string, User>()
  readonly #bursts = new Bursts(8)

  /** How many uploads of the user are being read. */
  reading (userId: string): number {
    return this.#users.get(userId)?.reading ?? 0
  }

  /** `turn` waits for a turn and resolves to its end; `end` does nothing when called again. */
  begin (userId: string): { turn (): Promise<number>, end (): void } {
    const user = this.#users.get(userId) ?? { reading: 0, turn: Promise.resolve(0) }
    this.#users.set(userId, user)
    user.reading++
    let isOver = false
    return {
      turn: async () => { // users take turns, and so do the uploads of each
        user.turn = user.turn.then(() => this.#bursts.next())
        return await user.turn
      },
      end: () => {
        if (!isOver && --user.reading === 0) this.#users.delete(userId)
        isOver = true
      }
    }
  }
}

export const importCommands = [importLeads]
export const importQueries = [getLeadImport, listLeadImports, listImportResults]
