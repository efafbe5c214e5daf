// What a new lead is validated against beside its body, and how it is answered.
import type { FastifyReply } from 'fastify'
import { numbersOf } from '../../domain/blacklist/listed.js'
import { createdLead, type LeadState } from '../../domain/lead/evolve.js'
import { describeLead, type LeadAnswer } from '../../domain/lead/summary.js'
import type { CreateLeadBody, LeadFacts } from '../../domain/lead/validate.js'
import { tagged } from '../../http/answers/etags.js'
import type { Handled } from '../../http/command-route.js'
import { answerAsListed, readLead, type LeadDeps } from './lead-command.js'

export type { LeadDeps }

/** At once: the campaign is in Postgres, and what is listed in the event store. */
export async function newLeadFacts (
  deps: LeadDeps, userId: string, fields: Partial<CreateLeadBody>
): Promise<LeadFacts> {
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
export async function answerNewLead (
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
