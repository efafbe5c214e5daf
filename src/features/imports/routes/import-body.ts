// What is sent to start an import, and how it is read: JSON, or CSV with what holds for all rows in the query string.
import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest, FastifySchemaCompiler } from 'fastify'
import Type, { type Static, type TSchema } from 'typebox'
import { Id } from '../../../domain/json.js'
import { CreateLeadBody } from '../../leads/decide.js'
import { DuplicateRule } from '../events.js'
import { invalid, type FieldErrors } from '../../../domain/rejection.js'
import { isCsv } from '../../../http/input/bodies.js'
import { nameIgnored } from '../../../http/input/received.js'
import { validatorCompiler } from '../../../http/input/compilers.js'
import { queryErrors } from '../../../http/read-position.js'
import { leadsOfCsv, leadsOfJson, type ForAll, type SentLead } from './sent-leads.js'

const mostJsonLeads = 1_000

const { campaign_id: _campaign, allow_dupplicate: _allow, ...leadFields } = CreateLeadBody.properties
export const ImportedLead = Type.Object(leadFields, { title: 'ImportedLead' })

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
  // Filled in by the handler: the validator would hide that it was not sent.
  if_duplicate: Type.Optional({ ...DuplicateRule, description: 'As in the JSON; skip where neither says it.' })
})

/** A lead that is wrong is a row that is `invalid`, and refuses no other one. */
const LooseBody = Type.Object({
  ...asked,
  campaign_id: Type.Optional(asked.campaign_id),
  leads: Type.Array(Type.Object({}), { minItems: 1, maxItems: mostJsonLeads })
})

/** CSV is checked as it is read. */
export const importValidators: FastifySchemaCompiler<TSchema> = (route) => {
  if (route.httpPart !== 'body') return validatorCompiler(route)
  const takesAll = (schema: TSchema) => !('properties' in schema)
  return takesAll(route.schema) ? () => true : validatorCompiler({ ...route, schema: LooseBody })
}

export interface ImportRequest { all: ForAll, leads: AsyncIterable<SentLead> | Iterable<SentLead> }

/** Nothing of CSV was read yet. @throws Rejection `invalid` with all that can be said without reading it */
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

/** Of JSON the body says what holds for all leads; the query string may say the same, or what the body leaves out. */
function differing (query: Static<typeof ImportQuery>, body: Static<typeof ImportQuery>): FieldErrors {
  const names = (['campaign_id', 'if_duplicate'] as const).filter((name) =>
    query[name] !== undefined && body[name] !== undefined && query[name] !== body[name])
  return Object.fromEntries(names.map((name) => [name, ['must be the same in the query string and the body']]))
}

/** The schema of the route has taken it. */
const isImport = (body: unknown): body is Static<typeof LooseBody> => typeof body === 'object' && body !== null
