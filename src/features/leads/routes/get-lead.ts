// GET /user/lead/{id}
import Type from 'typebox'
import { leadNotFound } from '../change.js'
import { Id } from '../../../domain/json.js'
import { LeadAnswer, describeLead } from '../summary.js'
import { tagged } from '../../../http/answers/etags.js'
import type { App } from '../../../http/app-types.js'
import { answered, One, refusal } from '../../../http/docs/describe.js'
import { lead } from '../../../http/docs/examples.js'
import { idIn, leadPath } from '../../../http/path-id.js'
import { itemErrors, readHeaders, reading } from '../../../http/read-position.js'
import type { ReadDeps } from '../../assistants/routes/list-assistants.js'

const FoundLead = Type.Object({
  ...LeadAnswer.properties,
  contact_id: Type.Optional(Id({ description: 'The secondary contact that was asked for; absent for a lead.' }))
}, { title: 'FoundLead' })

const schema = {
  operationId: 'getLead',
  summary: 'Get a lead',
  description: 'The same object as the answer to its creation. By the id of a secondary contact it is its lead, with ' +
    '`contact_id`.',
  tags: ['leads'],
  security: [{ bearer: [] }],
  headers: readHeaders,
  params: leadPath,
  response: {
    200: answered('The lead with its secondary contacts.', One(FoundLead), { data: lead }, ['ETag']),
    ...itemErrors,
    404: refusal('Lead not found or does not belong to the authenticated user')
  }
}

export function getLead (app: App, { readModel, readPositions }: ReadDeps): void {
  app.get('/user/lead/:id', { schema, ...reading('leads', readPositions) }, async ({ user, params }, reply) => {
    const id = idIn(params.id)
    const found = id === undefined ? undefined : await readModel.findLead(user.id, id)
    if (!found) throw leadNotFound()
    const contact = found.lead.id !== id && { contact_id: id }
    return { data: { ...tagged(reply, describeLead(found.lead, found.campaignName)), ...contact } }
  })
}
