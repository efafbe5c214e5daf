// What the commands of a lead share: what they work with, the lead that a path names, and how it is read back.
import { leadNotFound } from '../../domain/lead/change.js'
import { describeLead, type LeadAnswer } from '../../domain/lead/summary.js'
import type { HandleRoute } from '../../http/command-route.js'
import { idIn } from '../../http/path-id.js'
import type { LeadOnStream } from '../../../projections/find-leads.js'
import type { ReadModel } from '../../../projections/read-model.js'
import type { Facts } from '../facts.js'

export interface LeadDeps {
  handle: HandleRoute
  readModel: ReadModel
  facts: Facts
  /** Stands for a phone number in the name of a stream. */
  phoneHash (phoneNumber: string): string
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
