// How a campaign's events add up.
import { laterOf } from '../../domain/time/later-of.js'
import type { CampaignEvent } from './events.js'

export interface Campaign {
  campaign_id: number
  user_id: string
  name: string
  /** As the last import named it; absent when none did. */
  imported_name?: string
  /** ISO 8601. */
  created_at: string
  updated_at: string
  /** It was deleted: it takes no lead any more, and those that it has keep its name. Its id is not given out again. */
  isDeleted?: true
}

/** Nothing yet, or the campaign. */
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
