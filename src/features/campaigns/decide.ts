// The rules for campaigns that need to know what they are now.
import { idAt, type Circumstances, type Decider } from '../../domain/decider.js'
import { Rejection } from '../../domain/rejection.js'
import { campaignEventTypes, type CampaignEvent } from './events.js'
import { evolve, type Campaign, type CampaignState } from './evolve.js'
import type { CampaignChanges, NewCampaign } from './validate.js'

/** Its one id is the new campaign's. */
export type CreateCampaign = NewCampaign & Circumstances
export type RenameCampaign = CampaignChanges & Omit<Circumstances, 'ids'>
export type DeleteCampaign = { type: 'delete' } & Omit<Circumstances, 'ids'>
export type CampaignCommand = CreateCampaign | RenameCampaign | DeleteCampaign

/** What a catalogue says of a campaign. */
export interface ImportCampaign { campaign_id: number, user_id: string, name: string, now: string }

const campaign = {
  initialState: undefined,
  eventTypes: campaignEventTypes,
  evolve,
  ownerOf: (state: CampaignState) => state?.user_id
}

export const campaignDecider: Decider<CampaignState, CampaignEvent, CampaignCommand> = {
  ...campaign,
  decide (command, state) {
    switch (command.type) {
      case 'create': return create(command, state)
      case 'rename': return rename(command, state)
      case 'delete': return remove(command, state)
      default: return command satisfies never
    }
  }
}

export const importedCampaignDecider: Decider<CampaignState, CampaignEvent, ImportCampaign> =
  { ...campaign, decide: importCampaign }

function create ({ ids, userId, now, name }: CreateCampaign, state: CampaignState): CampaignEvent[] {
  if (state) throw new Rejection('id-taken', 'The id was given out before: try again')
  const data = { campaign_id: idAt(ids, 0), user_id: userId, name, source: 'user' as const, created_at: now }
  return [{ type: 'CampaignCreated', data }]
}

function rename (command: RenameCampaign, state: CampaignState): CampaignEvent[] {
  const { campaign_id, user_id, name: present } = ownOf(command, state)
  const { name, now } = command
  if (name === present) return []
  return [{ type: 'CampaignRenamed', data: { campaign_id, user_id, name, source: 'user', renamed_at: now } }]
}

function remove (command: DeleteCampaign, state: CampaignState): CampaignEvent[] {
  const { campaign_id, user_id } = ownOf(command, state)
  return [{ type: 'CampaignDeleted', data: { campaign_id, user_id, deleted_at: command.now } }]
}

/**
 * Only what differs from the last import: a name that its user gave since, and a deletion, stay. A name that the import
 * gives anew is written down also where the campaign has it already, as the next import is compared with it.
 */
function importCampaign ({ now, ...wanted }: ImportCampaign, state: CampaignState): CampaignEvent[] {
  if (!state) return [{ type: 'CampaignCreated', data: { ...wanted, source: 'import', created_at: now } }]
  if (state.user_id !== wanted.user_id) {
    const taken = `campaign ${wanted.campaign_id} belongs to user ${state.user_id}`
    throw new Rejection('catalog-conflict', `${taken}: give another user's campaign another id`)
  }
  if (state.isDeleted || state.imported_name === wanted.name) return []
  return [{ type: 'CampaignRenamed', data: { ...wanted, source: 'import', renamed_at: now } }]
}

/** @throws Rejection `not-found` */
function ownOf ({ userId }: { userId: string }, state: CampaignState): Campaign {
  if (state?.user_id !== userId || state.isDeleted) throw campaignNotFound()
  return state
}

/** Also the answer to somebody else's campaign, so that nobody learns which ids exist. */
export function campaignNotFound (): Rejection {
  return new Rejection('not-found', 'Campaign not found or does not belong to the authenticated user')
}
