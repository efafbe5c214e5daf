// GET /user/lead/{id}
import Type from 'typebox'
import { LeadAnswer, describeLead } from '../domain/lead/summary.js'
import { Rejection } from '../domain/rejection.js'
import type { App } from '../http/app-types.js'
import { answered, refusal } from '../http/docs/describe.js'
import { lead } from '../http/docs/examples.js'
import { idIn, leadPath } from '../http/path-id.js'
import { itemErrors, readHeaders, reading } from '../http/read-position.js'
import type { ReadDeps } from './list-assistants.js'

const schema = {
  operationId: 'getLead',
  summary: 'Get a lead',
  description: 'The same object as the answer to its creation. Ids of secondary contacts are not found here.',
  tags: ['leads'],
  security: [{ bearer: [] }],
  headers: readHeaders,
  params: leadPath,
  response: {
    200: answered('The lead with its secondary contacts.', Type.Object({ data: LeadAnswer }), { data: lead }),
    ...itemErrors,
    404: refusal('Lead not found or does not belong to the authenticated user')
  }
}

export function getLead (app: App, { readModel, readPositions }: ReadDeps): void {
  app.get('/user/lead/:id', { schema, ...reading('leads', readPositions) }, async ({ user, params }) => {
    const id = idIn(params.id)
    const found = id === undefined ? undefined : await readModel.findLead(user.id, id)
    if (!found) throw new Rejection('not-found', 'Lead not found or does not belong to the authenticated user')
    return { data: describeLead(found.lead, found.campaignName) }
  })
}
