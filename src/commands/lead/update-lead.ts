// PUT /user/lead/{id}
import Type from 'typebox'
import { leadNotFound, oneLeadDecider } from '../../domain/lead/change.js'
import { withCalling, type OneLeadState } from '../../domain/lead/one-lead.js'
import { LeadAnswer, describeLead } from '../../domain/lead/summary.js'
import { UpdateLeadBody, chosenStatuses, validateLeadChanges } from '../../domain/lead/validate-changes.js'
import type { App } from '../../http/app-types.js'
import { command, type Handled, type Written } from '../../http/command-route.js'
import { answered, example, invalid, refusal, writeHeaders } from '../../http/docs/describe.js'
import { changedLead, lead as leadExample } from '../../http/docs/examples.js'
import { leadPath } from '../../http/path-id.js'
import type { LeadOnStream } from '../../../projections/find-leads.js'
import type { ReadModel } from '../../../projections/read-model.js'
import { leadIdIn, lookUpLead, readLead, type LeadDeps } from './lead-command.js'

const updated = 'Lead updated successfully'
const UpdatedLead = Type.Object({ message: Type.String(), data: LeadAnswer }, { title: 'UpdatedLead' })

const schema = {
  operationId: 'updateLead',
  summary: 'Update a lead',
  description: 'Only the given fields change. variables and secondary_contacts are replaced whole: a secondary contact ' +
    'with its id is kept, one without is new, and one that is left out is gone.',
  tags: ['leads'],
  security: [{ bearer: [] }],
  params: leadPath,
  body: example(UpdateLeadBody, changedLead),
  response: {
    200: answered(
      'The lead with its secondary contacts.', UpdatedLead,
      { message: updated, data: { ...leadExample, status: 'rescheduled' } }, writeHeaders
    ),
    404: refusal('Lead not found or does not belong to the authenticated user'),
    422: invalid({
      phone_number: ['must stay as it is'], 'secondary_contacts.0.id': ['must be a secondary contact of this lead']
    })
  }
}

export function updateLead (app: App, deps: LeadDeps): void {
  const options = command('user', 'Lead update failed', 'Idempotency-Key')
  app.put('/user/lead/:id', { schema, ...options }, async (request, reply) => {
    const id = leadIdIn(request.params.id)
    return await deps.handle(request, reply, {
      body: UpdateLeadBody,
      facts: () => lookUpLead(deps, request.user.id, id),
      validate: validateLeadChanges,
      ids: ({ secondary_contacts = [] }) => ({ kind: 'lead', count: secondary_contacts.filter(isNew).length }),
      stream: (_body, _ids, { stream = '' }) => stream,
      decider: oneLeadDecider(id),
      answer: async (handled) => ({
        message: updated, data: await handled.readBack(changedLeadOf(deps.readModel, handled))
      })
    })
  })
}

const isNew = ({ id }: { id?: number }) => id === undefined

function changedLeadOf (
  readModel: ReadModel, { state, body, facts }: Handled<OneLeadState, LeadOnStream, UpdateLeadBody>
): Written<LeadAnswer> {
  if (!state) throw leadNotFound()
  const lead = withCalling(state, facts.lead, chosenStatuses(body, state))
  return {
    source: 'leads',
    folded: () => describeLead(lead, facts.campaignName ?? ''),
    read: () => readLead(readModel, lead)
  }
}
