// PUT /user/lead/{id}
import Type from 'typebox'
import { leadNotFound, oneLeadDecider } from '../change.js'
import { withCalling, type OneLeadState } from '../one-lead.js'
import { LeadAnswer, describeLead } from '../summary.js'
import type { Listed } from '../../blacklist/listed.js'
import { UpdateLeadBody, chosenStatuses, numbersToAsk, validateLeadChanges } from '../validate-changes.js'
import type { App } from '../../../http/app-types.js'
import { tagged } from '../../../http/answers/etags.js'
import { command, type Handled, type Written } from '../../../http/command-route.js'
import { answered, example, invalid, refusal, writeHeaders } from '../../../http/docs/describe.js'
import { changedLead, lead as leadExample } from '../../../http/docs/examples.js'
import { leadPath } from '../../../http/path-id.js'
import type { LeadOnStream } from '../../../../projections/find-leads.js'
import type { ReadModel } from '../../../../projections/read-model.js'
import { answerAsListed, etagBefore, leadIdIn, lookUpLead, readLead, type LeadDeps } from './lead-command.js'

const updated = 'Lead updated successfully'
const UpdatedLead = Type.Object({ message: Type.String(), data: LeadAnswer }, { title: 'LeadAnswer' })

const schema = {
  operationId: 'updateLead',
  summary: 'Update a lead',
  description: 'Only the given fields change. variables and secondary_contacts are replaced whole: a secondary contact ' +
    'with its id is kept, one without is new, and one that is left out is gone. Who has a phone number on your ' +
    'do-not-call list stays blacklisted.',
  tags: ['leads'],
  security: [{ bearer: [] }],
  params: leadPath,
  body: example(UpdateLeadBody, changedLead),
  response: {
    200: answered(
      'The lead with its secondary contacts.', UpdatedLead,
      { message: updated, data: { ...leadExample, status: 'rescheduled' } }, ['ETag', ...writeHeaders]
    ),
    404: refusal('Lead not found or does not belong to the authenticated user'),
    422: invalid({
      phone_number: ['must stay as it is'], 'secondary_contacts.0.id': ['must be a secondary contact of this lead']
    })
  }
}

export function updateLead (app: App, deps: LeadDeps): void {
  const options = command('user', 'Lead update failed', 'Idempotency-Key', 'If-Match')
  app.put('/user/lead/:id', { schema, ...options }, async (request, reply) => {
    const id = leadIdIn(request.params.id)
    return await deps.handle(request, reply, {
      body: UpdateLeadBody,
      facts: (fields) => lookUpFacts(deps, request.user.id, id, fields),
      validate: validateLeadChanges,
      ids: ({ secondary_contacts = [] }) => ({ kind: 'lead', count: secondary_contacts.filter(isNew).length }),
      stream: (_body, _ids, { stream = '' }) => stream,
      decider: oneLeadDecider(id),
      etagBefore,
      answer: async (handled) => ({
        message: updated,
        data: tagged(reply, await answerAsListed(
          deps.blacklists, request.user.id, await handled.readBack(changedLeadOf(deps.readModel, handled))))
      })
    })
  })
}

interface Facts extends LeadOnStream { listed: Listed }

/** At once, but for the lead's own number, which the lead says. */
async function lookUpFacts (
  deps: LeadDeps, userId: string, id: number, fields: Partial<UpdateLeadBody>
): Promise<Facts> {
  const [found, ofContacts] = await Promise.all([
    lookUpLead(deps, userId, id), deps.blacklists.listed(userId, numbersToAsk(fields))
  ])
  const ofLead = await deps.blacklists.listed(userId, fields.status === undefined ? [] : [found.lead.phone_number])
  return { ...found, listed: new Set([...ofContacts, ...ofLead]) }
}

const isNew = ({ id }: { id?: number }) => id === undefined

function changedLeadOf (
  readModel: ReadModel, { state, body, facts }: Handled<OneLeadState, Facts, UpdateLeadBody>
): Written<LeadAnswer> {
  if (!state) throw leadNotFound()
  const lead = withCalling(state, facts.lead, chosenStatuses(body, state))
  return {
    source: 'leads',
    folded: () => describeLead(lead, facts.campaignName ?? ''),
    read: () => readLead(readModel, lead)
  }
}
