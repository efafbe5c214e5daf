// POST /user/lead
import Type from 'typebox'
import { numbersOf } from '../../domain/blacklist/listed.js'
import { leadDecider } from '../../domain/lead/decide.js'
import { leadStream } from '../../domain/lead/events.js'
import { createdLead, type LeadState } from '../../domain/lead/evolve.js'
import { LeadAnswer, describeLead } from '../../domain/lead/summary.js'
import { CreateLeadBody, validateLead, type LeadFacts } from '../../domain/lead/validate.js'
import type { App } from '../../http/app-types.js'
import { command, type Handled, type Written } from '../../http/command-route.js'
import { answered, example, invalid, writeHeaders } from '../../http/docs/describe.js'
import { lead as leadExample, newLead } from '../../http/docs/examples.js'
import type { ReadModel } from '../../../projections/read-model.js'
import { answerAsListed, readLead, type LeadDeps } from './lead-command.js'

const created = 'Lead created successfully'

const Message = Type.String({ default: created })
const CreatedLead = Type.Object({ message: Message, data: LeadAnswer }, { title: 'LeadAnswer' })

const schema = {
  operationId: 'createLead',
  summary: 'Create a lead',
  description: 'A phone number is a lead of a campaign once, unless allow_dupplicate is true. One on your do-not-call ' +
    'list is refused.',
  tags: ['leads'],
  security: [{ bearer: [] }],
  body: example(CreateLeadBody, newLead),
  response: {
    200: answered(
      'The lead with its secondary contacts.', CreatedLead, { message: created, data: leadExample }, writeHeaders
    ),
    422: invalid({
      phone_number: ['is already a lead of this campaign; send allow_dupplicate: true to create another'],
      'secondary_contacts.0.phone_number': ['is required']
    })
  }
}

export function createLead (app: App, deps: LeadDeps): void {
  const { handle, readModel, blacklists, phoneHash } = deps
  const options = command('user', 'Lead creation failed', 'Idempotency-Key')
  app.post('/user/lead', { schema, ...options }, (request, reply) => handle(request, reply, {
    body: CreateLeadBody,
    facts: (fields) => lookUpFacts(deps, request.user.id, fields),
    validate: validateLead,
    ids: ({ secondary_contacts = [] }) => ({ kind: 'lead', count: 1 + secondary_contacts.length }),
    stream: ({ campaign_id, phone_number }) => leadStream(campaign_id, phoneHash(phone_number)),
    isNew: true,
    decider: leadDecider,
    answer: async (handled) => ({
      message: created,
      data: await answerAsListed(
        blacklists, request.user.id, await handled.readBack(writtenLead(readModel, handled)))
    })
  }))
}

/** At once: the campaign is in Postgres, and what is listed in the event store. */
async function lookUpFacts (deps: LeadDeps, userId: string, fields: Partial<CreateLeadBody>): Promise<LeadFacts> {
  const [campaign, listed] = await Promise.all([
    lookUpCampaign(deps, userId, fields.campaign_id), deps.blacklists.listed(userId, numbersOf(fields))
  ])
  return { ...campaign, listed }
}

async function lookUpCampaign ({ facts }: LeadDeps, userId: string, id: number | undefined): Promise<LeadFacts> {
  if (id === undefined) return {}
  const { name = null, isDeleted = false } = await facts.campaign(userId, id) ?? {}
  return { campaignName: name, isCampaignDeleted: isDeleted }
}

function writtenLead (readModel: ReadModel, { state, ids, facts }: Handled<LeadState, LeadFacts>): Written<LeadAnswer> {
  const lead = createdLead(state, ids)
  return {
    source: 'leads',
    folded: () => describeLead(lead, facts.campaignName ?? ''),
    read: () => readLead(readModel, lead),
    isAllInStream: facts.campaignName !== undefined
  }
}
