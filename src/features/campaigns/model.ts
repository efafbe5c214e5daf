// A campaign: how its events add up, the rules that it has, and what callers send and see of it.
import Type, { type Static } from 'typebox'
import {
  idTaken, isBlank, notOwn, ownedBy, problem, Rejection, soundBody, soundFields, type Submitted
} from '../../domain/rejection.js'
import { type Aggregate, deciding, idAt, laterOf, type Circumstances, type Decider } from '../../domain/events.js'
import { At, Id, notBlank } from '../../domain/json.js'
import { campaignEventTypes, type CampaignEvent } from './events.js'

export interface Campaign {
  campaign_id: number
  user_id: string
  name: string
  /** As the last import named it; absent when none did. */
  imported_name?: string
  /** ISO 8601. */
  created_at: string
  updated_at: string
  /** Deleted: it takes no new leads, and those that it has keep its name. Its id is not given out again. */
  isDeleted?: true
}

/** Undefined before its creation. */
export type CampaignState = Campaign | undefined

export function evolve (state: CampaignState, event: CampaignEvent): CampaignState {
  switch (event.type) {
    case 'CampaignCreated': return named(state, event.data, event.data.created_at)
    case 'CampaignRenamed': return named(state, event.data, event.data.renamed_at)
    case 'CampaignDeleted':
      return state && { ...state, isDeleted: true, updated_at: laterOf(state.updated_at, event.data.deleted_at) }
    default: return event satisfies never
  }
}

type Named = Extract<CampaignEvent, { data: { name: string } }>['data']

function named (state: CampaignState, { campaign_id, user_id, name, source }: Named, at: string): Campaign {
  const imported = source === 'import' && { imported_name: name }
  const times = { created_at: state?.created_at ?? at, updated_at: laterOf(state?.updated_at ?? at, at) }
  return { ...state, campaign_id, user_id, name, ...imported, ...times }
}

export const CampaignBody = Type.Object({
  name: Type.String({
    minLength: 1, maxLength: 255, ...notBlank, description: 'Name of the campaign.', examples: ['Spring renewals']
  })
}, { title: 'CampaignInput' })

/** @throws Rejection `invalid` */
export function nameIn (submitted: Submitted<Static<typeof CampaignBody>>): string {
  const { name } = soundFields(submitted)
  return soundBody(submitted, [name !== undefined && isBlank(name) && problem('name', 'must not be blank')]).name
}

const campaign: Aggregate<CampaignState, CampaignEvent> = {
  initialState: undefined,
  eventTypes: campaignEventTypes,
  evolve
}

export const campaignDecider = deciding(campaign, {
  /** `ids` holds the new campaign's. */
  create ({ ids, userId, now, name }: Circumstances & { name: string }, state) {
    if (state) throw idTaken()
    const data = { campaign_id: idAt(ids, 0), user_id: userId, name, source: 'user' as const, created_at: now }
    return [{ type: 'CampaignCreated', data }]
  },
  rename ({ userId, name, now }: Omit<Circumstances, 'ids'> & { name: string }, state) {
    const { campaign_id, user_id, name: present } = ownedBy(userId, state, campaignNotFound)
    if (name === present) return []
    return [{ type: 'CampaignRenamed', data: { campaign_id, user_id, name, source: 'user', renamed_at: now } }]
  },
  delete ({ userId, now }: Omit<Circumstances, 'ids'>, state) {
    const { campaign_id, user_id } = ownedBy(userId, state, campaignNotFound)
    return [{ type: 'CampaignDeleted', data: { campaign_id, user_id, deleted_at: now } }]
  }
})

export const campaignNotFound = () => notOwn('Campaign')

/** A campaign in a catalogue. */
interface ImportCampaign { campaign_id: number, user_id: string, name: string, now: string }

export const importedCampaignDecider: Decider<CampaignState, CampaignEvent, ImportCampaign> =
  { ...campaign, decide: importCampaign }

/**
 * Applies only what differs from the last import: a name that its user gave since, and a deletion, stay. A new name
 * becomes an event even if the campaign has it already, because the next import is compared with it.
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

export const CampaignAnswer = Type.Object({
  id: Id({ description: 'The campaign_id of a lead.' }),
  name: Type.String({ examples: ['Spring renewals'] }),
  created_at: At(),
  updated_at: At()
}, { title: 'Campaign' })
export type CampaignAnswer = Static<typeof CampaignAnswer>

export const describeCampaign = ({ campaign_id: id, name, created_at, updated_at }: Campaign): CampaignAnswer =>
  ({ id, name, created_at, updated_at })
