// What is sent to start an import, and how it is read: JSON, or CSV with what holds for all rows in the query string.
import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest, FastifySchemaCompiler } from 'fastify'
import Type, { type Static, type TSchema } from 'typebox'
import { Id } from '../../domain/json.js'
import { CreateLeadBody } from '../../domain/lead/validate.js'
import { DuplicateRule } from '../../domain/lead-import/events.js'
import { invalid } from '../../domain/rejection.js'
import { isCsv } from '../../http/imports/csv-body.js'
import { nameIgnored } from '../../http/input/received.js'
import { validatorCompiler } from '../../http/input/validators.js'
import { queryErrors } from '../../http/read-position.js'
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
  campaign_id: Type.Optional({ ...asked.campaign_id, description: 'With CSV: campaign to create the leads for.' }),
  if_duplicate: asked.if_duplicate
})

/** A lead that is wrong is a row that is `invalid`, and refuses no other one. */
const LooseBody = Type.Object({
  ...asked, leads: Type.Array(Type.Object({}), { minItems: 1, maxItems: mostJsonLeads })
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
  const parameters = queryOf(request.query)
  nameIgnored(reply, parameters, ImportQuery.properties)
  const refused = queryErrors(request)
  if (!isCsv(request)) {
    if (Object.keys(refused).length > 0) throw invalid(refused)
    return jsonRequest(body, reply)
  }
  const { campaign_id, if_duplicate = 'skip' } = parameters
  if (campaign_id === undefined) throw invalid({ campaign_id: ['is required'], ...refused })
  if (Object.keys(refused).length > 0) throw invalid(refused)
  const all = { campaign_id, if_duplicate }
  return { all, leads: leadsOfCsv(body instanceof Readable ? body : Readable.from([]), all) }
}

function jsonRequest (body: unknown, reply: FastifyReply): ImportRequest {
  if (!isImport(body)) throw invalid({ body: ['must be a JSON object'] })
  nameIgnored(reply, body, ImportBody.properties)
  const all = { campaign_id: body.campaign_id, if_duplicate: body.if_duplicate ?? 'skip' }
  return { all, leads: leadsOfJson(body.leads, all) }
}

/** The schemas of the route have taken both. */
const isImport = (body: unknown): body is Static<typeof LooseBody> => typeof body === 'object' && body !== null
const queryOf = (query: unknown): Static<typeof ImportQuery> => isQuery(query) ? query : {}
const isQuery = (query: unknown): query is Static<typeof ImportQuery> => typeof query === 'object' && query !== null
