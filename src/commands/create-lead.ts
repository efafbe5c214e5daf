// POST /user/lead
import Type from 'typebox'
import { CreateLeadBody } from '../domain/lead/body.js'
import { leadDecider } from '../domain/lead/decide.js'
import { leadStream } from '../domain/lead/events.js'
import { LeadAnswer, describeLead } from '../domain/lead/lead.js'
import { Rejection } from '../domain/rejection.js'
import type { App } from '../http/app-types.js'
import { only } from '../http/auth.js'
import { answered, example, invalid, writeHeaders } from '../http/docs/describe.js'
import { lead as leadExample, newLead } from '../http/docs/examples.js'
import { answerFrom, type ReadYourWrite } from '../http/read-your-write.js'
import { received } from '../http/received.js'
import { claimOf, markReplay } from '../http/retry-headers.js'
import type { Idempotency } from '../command-handling/idempotency.js'
import type { Ids } from '../command-handling/ids.js'
import type { LeadDigest } from '../command-handling/phone-hash.js'
import type { ReadModel } from '../../projections/read-model.js'
import { factsFor } from './facts.js'

export interface LeadDeps {
  idempotency: Idempotency
  readModel: ReadModel
  ids: Ids
  digest: LeadDigest
  readYourWrite: ReadYourWrite
}

const created = 'Lead created successfully'
const CreatedLead = Type.Object({ message: Type.String({ default: created }), data: LeadAnswer }, { title: 'LeadAnswer' })

const schema = {
  operationId: 'createLead',
  summary: 'Create a lead',
  description: 'A phone number is a lead of a campaign once, unless allow_dupplicate is true.',
  tags: ['leads'],
  security: [{ bearer: [] }],
  body: example(CreateLeadBody, newLead),
  response: {
    200: answered('The lead with its secondary contacts.', CreatedLead, { message: created, data: leadExample }, writeHeaders),
    422: invalid({ phone_number: ['is already a lead of this campaign; send allow_dupplicate: true to create another'], 'secondary_contacts.0.phone_number': ['is required'] })
  }
}

export function createLead (app: App, { idempotency, readModel, ids, digest, readYourWrite }: LeadDeps): void {
  const config = { failure: 'Lead creation failed', requestHeaders: ['Idempotency-Key'] as const }
  app.post('/user/lead', { schema, config, attachValidation: true, onRequest: only('user') }, async (request, reply) => {
    const userId = request.user.id
    const { body, refused } = received(request, reply, CreateLeadBody)
    const { phone_number: phoneNumber, campaign_id: campaignId, secondary_contacts: contacts = [] } = body
    const campaignName = campaignId === undefined || refused.campaign_id ? undefined : await factsFor(refused, readModel.findCampaignName(userId, campaignId), '')
    const command = { userId, body, refused, facts: { ownsCampaign: campaignName !== undefined }, now: new Date().toISOString() }
    const refuse = () => leadDecider.decide({ ...command, ids: [] }, leadDecider.initialState)
    if (phoneNumber === undefined || refused.phone_number || campaignId === undefined || campaignName === undefined) {
      refuse() // there is no stream to ask
      throw new Error('a lead without a stream was not refused')
    }
    const isSound = Object.keys(refused).length === 0 && new Set([phoneNumber, ...contacts.map((contact) => contact.phone_number)]).size > contacts.length
    const outcome = await idempotency.once(claimOf(request, refused), async () => isSound ? await ids.take('lead', 1 + contacts.length) : [], (reserved) => ({
      decider: leadDecider,
      stream: leadStream(campaignId, digest(phoneNumber)),
      command: { ...command, ids: reserved.ids },
      commandId: reserved.commandId,
      userId,
      correlationId: request.id,
      isNew: isSound, // else it is refused, and told whether the lead exists as well
      isRetry: reserved.isRetry
    })).catch((error: unknown) => {
      if (!isSound && !(error instanceof Rejection)) refuse() // what is wrong by itself needs no back end to be told
      throw error
    })
    const lead = outcome.state.find(({ id }) => id === outcome.ids[0])
    if (!lead) throw new Error('a handled lead command left no lead')
    markReplay(reply, outcome)
    const data = await answerFrom(readYourWrite, 'leads', outcome, reply,
      async () => {
        const found = await readModel.findLead(userId, lead.id)
        return found && describeLead(found.lead, found.campaignName)
      },
      () => describeLead(lead, campaignName))
    return await reply.send({ message: created, data })
  })
}
