// GET /user/lead-import/{id}
import Type from 'typebox'
import type { ImportStatus, LeadImports } from './lead-imports.js'
import { LeadImportStatus } from '../events.js'
import { isUuid, Nullable } from '../../../domain/json.js'
import { Rejection } from '../../../domain/rejection.js'
import type { App } from '../../../http/app-types.js'
import { answered, refusal } from '../../../http/docs/describe.js'
import { leadImport } from '../../../http/docs/examples.js'
import { importPath } from '../../../http/path-id.js'
import { itemErrors, readHeaders, reading } from '../../../http/read-position.js'
import type { RouteServices } from '../../services.js'

export type LeadImportQueryDeps = RouteServices & { leadImports: LeadImports }

const Count = (description: string) => Type.Integer({ minimum: 0, description })
const At = Type.String({ description: 'ISO 8601, UTC.', examples: [leadImport.created_at] })
const LeadImport = Type.Object({
  id: Type.String(),
  status: LeadImportStatus,
  total: Count('Rows that were sent.'),
  processed: Count('Rows that are done.'),
  created: Count('Rows that became a lead.'),
  duplicates: Count('Rows whose phone number was a lead of the campaign already.'),
  invalid: Count('Rows that were refused.'),
  reason: Nullable(Type.String(), { description: 'Why it failed: the rows that are left cannot be imported.' }),
  created_at: At,
  finished_at: Nullable(At)
}, { title: 'LeadImport' })

const notFound = 'Import not found or does not belong to the authenticated user'

const schema = {
  operationId: 'getLeadImport',
  summary: 'Get an import',
  description: 'How far it is. It is kept for 30 days after its end.',
  tags: ['leads'],
  security: [{ bearer: [] }],
  headers: readHeaders,
  params: importPath,
  response: {
    200: answered('The import.', Type.Object({ data: LeadImport }, { title: 'FoundLeadImport' }), { data: leadImport }), ...itemErrors, 404: refusal(notFound)
  }
}

export function getLeadImport (app: App, { readPositions, leadImports }: LeadImportQueryDeps): void {
  app.get('/user/lead-import/:id', { schema, ...reading('leads', readPositions) }, async ({ user, params }) => {
    const { id, state, progress, reason, created_at, finished_at } = await ownImport(leadImports, user.id, params.id)
    const { total = 0, processed = 0, created = 0, duplicates = 0, invalid = 0 } = progress
    const counts = { total, processed, created, duplicates, invalid }
    const times = { created_at: created_at.toISOString(), finished_at: finished_at?.toISOString() ?? null }
    return { data: { id, status: state === 'accepted' ? 'processing' as const : state, ...counts, reason, ...times } }
  })
}

/** @throws Rejection `not-found` */
export async function ownImport (leadImports: LeadImports, userId: string, id: string): Promise<ImportStatus> {
  const found = isUuid(id) ? await leadImports.find(userId, id) : undefined
  if (!found) throw new Rejection('not-found', notFound)
  return found
}
