// What the commands of a lead share: what they work with, the lead that a path names, and how it is read back.
import { leadNotFound } from '../change.js'
import { describeLead, type LeadAnswer } from '../summary.js'
import type { Blacklists } from '../../../commands/blacklist/blacklists.js'
import { numbersOf } from '../../blacklist/listed.js'
import { leadAsListed } from '../summary.js'
import { withCalling, type OneLeadState } from '../one-lead.js'
import type { CreateLeadBody } from '../validate.js'
import type { HandleRoute } from '../../../http/command-route.js'
import { etagOfData } from '../../../http/answers/etags.js'
import { idIn } from '../../../http/path-id.js'
import type { LeadOnStream } from '../../../../projections/find-leads.js'
import type { ReadModel } from '../../../../projections/read-model.js'
import type { Facts } from '../../facts.js'

export interface LeadDeps {
  handle: HandleRoute
  readModel: ReadModel
  facts: Facts
  blacklists: Blacklists
  /** Of all leads of a phone number in a campaign. */
  leadStreamOf (lead: Pick<CreateLeadBody, 'campaign_id' | 'phone_number'>): string
}

/** @throws Rejection when the path holds no id that a lead could have */
export function leadIdIn (text: string): number {
  const id = idIn(text)
  if (id === undefined) throw leadNotFound()
  return id
}

/** The lead as reads show it, also when it was deleted: what was answered under a key is answered again. */
export async function lookUpLead ({ facts }: LeadDeps, userId: string, id: number): Promise<LeadOnStream> {
  const found = await facts.lead(userId, id)
  if (!found) throw leadNotFound()
  return found
}

export async function readLead (
  readModel: ReadModel, { user_id, id }: { user_id: string, id: number }
): Promise<LeadAnswer | undefined> {
  const found = await readModel.findLead(user_id, id)
  return found && describeLead(found.lead, found.campaignName)
}

/**
 * Of the lead as it was shown. It is made of its own stream, of calls, of the do-not-call list and of its campaign, and
 * the tag is of all that: what users changed is known exactly, the rest as far as it was read.
 */
export function etagBefore (state: OneLeadState, { lead, campaignName }: Partial<LeadOnStream>): string {
  if (!state) throw leadNotFound()
  return etagOfData(describeLead(withCalling(state, lead, new Set()), campaignName ?? ''))
}

/**
 * The lead as it is answered: whose number is listed by now is blacklisted. The streams are read last, after the append
 * and whatever was read since, so that none is answered as callable once its entry was answered. Where they cannot be
 * read, whether it may be called is not known, and the command's outcome with it.
 */
export async function answerAsListed (blacklists: Blacklists, userId: string, lead: LeadAnswer): Promise<LeadAnswer> {
  try {
    return leadAsListed(lead, await blacklists.listed(userId, numbersOf(lead)))
  } catch (cause) {
    throw new Error('the lead was written, and whether it may be called is not known', { cause })
  }
}
