// GET /user/lead-import/{id}/results
import Type from 'typebox'
import type { RowResult } from './lead-imports.js'
import { invalid, type FieldErrors } from '../../../domain/rejection.js'
import { GivenId, Nullable } from '../../../domain/json.js'
import type { App } from '../../../http/app-types.js'
import { addToVary } from '../../../http/cors.js'
import { answered, refusal } from '../../../http/docs/describe.js'
import { importedRow, page } from '../../../http/docs/examples.js'
import { bom, onlyCsv, sendExport, type Exported } from '../../../http/exports.js'
import { PageOf, Paging } from '../../../http/lists/paging.js'
import { importPath } from '../../../http/path-id.js'
import { itemErrors, readHeaders, reading } from '../../../http/read-position.js'
import { ownImport, type LeadImportQueryDeps } from './get-lead-import.js'

const Result = Type.Object({
  row: Type.Integer({ minimum: 1, description: 'Number of the row in the list or the file. The first row after the header line is 1; empty rows count.' }),
  outcome: Type.Enum(['created', 'duplicate', 'invalid'], { title: 'ImportedRowOutcome' }),
  lead_id: Nullable(GivenId(), { description: 'Of the lead that was created.' }),
  errors: Type.Unsafe<FieldErrors | null>({
    type: ['object', 'null'],
    additionalProperties: Type.Array(Type.String()),
    description: 'Of an invalid row, by field, as a 422 has them; `row` where it has too many or too few cells, and how ' +
      'many more errors there are than the first 5. Null of further rows, where an import has 20 MiB of errors.'
  })
}, { title: 'ImportedRow' })

const results: Exported<RowResult> = {
  name: 'import-results',
  columns: [
    ['row', ({ row }) => row],
    ['outcome', ({ outcome }) => outcome],
    ['lead_id', ({ lead_id }) => lead_id],
    ['errors', ({ errors }) => Object.entries(errors ?? {}).map(([field, words]) => `${field} ${words.join(', ')}`).join('; ')]
  ]
}

const paging = new Paging('import-results', 100, ['whole'])

const schema = {
  operationId: 'listLeadImportResults',
  summary: 'List what became of the rows of an import',
  description: 'In their order, as far as they are done. With `Accept: text/csv` all of them are streamed as CSV.',
  tags: ['leads'],
  security: [{ bearer: [] }],
  headers: readHeaders,
  params: importPath,
  querystring: Type.Object({ ...paging.parameters, bom }),
  response: {
    200: answered('The page that was asked for.', PageOf(Result), page(100, importedRow)),
    ...itemErrors,
    404: refusal('Import not found or does not belong to the authenticated user')
  }
}

export function listImportResults (app: App, { readPositions, leadImports }: LeadImportQueryDeps): void {
  const options = { schema, ...reading('leads', readPositions, paging) }
  app.get('/user/lead-import/:id/results', options, async (request, reply) => {
    const { user, params, query, headers } = request
    const { id } = await ownImport(leadImports, user.id, params.id)
    addToVary(reply, 'Accept')
    if (wantsCsv(headers.accept)) {
      return await sendExport(request, reply, { format: 'csv', bom: query.bom }, results, (visit, signal) =>
        leadImports.eachResult(id, visit, signal))
    }
    if (query.bom) throw invalid({ bom: [onlyCsv] })
    return paging.answer(query, await leadImports.results(id, paging.requested(query)))
  })
}

const wantsCsv = (accept = '') => /(^|,)\s*text\/csv\s*(;|,|$)/i.test(accept)
