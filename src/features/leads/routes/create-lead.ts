// POST /user/lead
import Type from 'typebox'
import { leadDecider } from '../decide.js'
import { LeadAnswer, describeLead } from '../summary.js'
import { CreateLeadBody, validateLead, type LeadFacts } from '../validate.js'
import type { App } from '../../../http/app-types.js'
import { command, type Handled } from '../../../http/command-route.js'
import { answered, example, invalid, writeHeaders } from '../../../http/docs/describe.js'
import { lead as leadExample, newLead } from '../../../http/docs/examples.js'
import type { FastifyReply } from 'fastify'
import { numbersOf } from '../../blacklist/listed.js'
import { createdLead, type LeadState } from '../evolve.js'
import { tagged } from '../../../http/answers/etags.js'
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
      'The lead with its secondary contacts.', CreatedLead, { message: created, data: leadExample }, ['ETag', ...writeHeaders]
    ),
    422: invalid({
      phone_number: ['is already a lead of this campaign; send allow_dupplicate: true to create another'],
      'secondary_contacts.0.phone_number': ['is required']
    })
  }
}

export function createLead (app: App, deps: LeadDeps): void {
  const options = command('user', 'Lead creation failed', 'Idempotency-Key')
  app.post('/user/lead', { schema, ...options }, (request, reply) => deps.handle(request, reply, {
    body: CreateLeadBody,
    facts: (fields) => newLeadFacts(deps, request.user.id, fields),
    validate: validateLead,
    ids: ({ secondary_contacts = [] }) => ({ kind: 'lead', count: 1 + secondary_contacts.length }),
    stream: deps.leadStreamOf,
    isNew: true,
    decider: leadDecider,
    answer: async (handled) => ({ message: created, data: await answerNewLead(deps, request.user.id, reply, handled) })
  }))
}

/** At once: the campaign is in Postgres, and what is listed in the event store. */
async function newLeadFacts (deps: LeadDeps, userId: string, fields: Partial<CreateLeadBody>): Promise<LeadFacts> {
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

/** The lead as reads show it once the read model has it, with its `ETag`. */
async function answerNewLead (
  { readModel, blacklists }: LeadDeps, userId: string, reply: FastifyReply,
  { state, ids, facts, readBack }: Handled<LeadState, LeadFacts>
): Promise<LeadAnswer> {
  const lead = createdLead(state, ids)
  return tagged(reply, await answerAsListed(blacklists, userId, await readBack({
    source: 'leads',
    folded: () => describeLead(lead, facts.campaignName ?? ''),
    read: () => readLead(readModel, lead),
    isAllInStream: facts.campaignName !== undefined
  })))
}
