// Campaigns as their owners have them; the catalogue folds them.
import type { Pool } from 'pg'
import type { CampaignEvent } from '../../src/features/campaigns/events.js'
import { evolve, type Campaign } from '../../src/features/campaigns/evolve.js'
import { lookUp } from '../../src/postgres/look-up.js'
import { readPage, type Page, type Paged } from '../../src/postgres/page.js'
import type { LogPosition, Rows } from '../folding/projection.js'
import { iso, table } from '../folding/table.js'
import { hasWords, searchedBy, wordIndex, wordsOf, type Searched } from '../search.js'
import type { OwnFilter } from './own-filter.js'

/** The row of a campaign that was deleted stays: answers to its leads name it. */
interface CampaignRow {
  id: number
  user_id: string
  name: string
  /** Searches compare these words of the name. */
  words: string
  is_deleted: boolean
  revision: number
  created_at: string
  updated_at: string
}

export const campaignTable = table<CampaignRow>({
  name: 'campaigns',
  key: 'id',
  columns: {
    id: 'bigint',
    user_id: 'text',
    name: 'text',
    words: 'text',
    is_deleted: 'boolean',
    revision: 'bigint',
    created_at: 'timestamptz',
    updated_at: 'timestamptz'
  },
  indexes: [
    '(user_id, id DESC) WHERE is_deleted IS NOT TRUE',
    '(user_id, updated_at) WHERE is_deleted IS NOT TRUE',
    wordIndex
  ]
})

export function projectCampaign (event: CampaignEvent, { revision }: LogPosition, rows: Rows): void {
  const row = rows.get(campaignTable, event.data.campaign_id)
  if (row && revision <= BigInt(row.revision)) return
  const campaign = evolve(row && toCampaign(row), event)
  if (!campaign) return
  const { campaign_id: id, user_id, name, isDeleted: is_deleted = false, created_at, updated_at } = campaign
  rows.put(campaignTable, {
    id,
    user_id,
    name,
    words: wordsOf(user_id, name),
    is_deleted,
    revision: Number(revision),
    created_at,
    updated_at
  })
}

function toCampaign ({ id, user_id, name, is_deleted, created_at, updated_at }: CampaignRow): Campaign {
  const campaign = { campaign_id: id, user_id, name, created_at: iso(created_at), updated_at: iso(updated_at) }
  return is_deleted ? { ...campaign, isDeleted: true } : campaign
}

/** A campaign at the revision of its last event. */
export interface CampaignAtRevision extends Campaign {
  revision: number
}

/** The user's campaign with this id, also one that was deleted. */
export async function findCampaign (db: Pool, userId: string, id: number): Promise<CampaignAtRevision | undefined> {
  const found = await lookUp<{ row: CampaignRow }>(db, {
    name: 'find-campaign',
    types: ['bigint', 'text'],
    text: 'SELECT row_to_json(c) AS row FROM read_model.campaigns c WHERE id = $1 AND user_id = $2'
  }, [id, userId])
  return found && { ...toCampaign(found.row), revision: found.row.revision }
}

const byName: Searched = {
  list: 'campaigns',
  own: 'user_id = $1 AND is_deleted IS NOT TRUE',
  order: 'id DESC',
  table: 'campaigns',
  those: 'is_deleted IS NOT TRUE',
  key: 'id',
  hasKey: 'id = ANY(?::bigint[])',
  isFound: (patterns) => hasWords('campaigns', patterns)
}

/** A page of the user's campaigns, newest first. */
export async function findCampaigns (
  db: Pool, { userId, searched, updatedFrom }: OwnFilter, page: Page
): Promise<Paged<{ id: number, name: string }>> {
  const { filters = [], matches } = await searchedBy(db, byName, userId, searched)
  return await readPage(db, {
    name: 'campaigns',
    columns: 'id, name',
    from: 'read_model.campaigns',
    key: 'id',
    own: [['user_id = ?', userId], ['is_deleted IS NOT TRUE']],
    filters: [...filters, ['updated_at >= ?', updatedFrom]],
    matches,
    order: { direction: 'DESC', by: { id: 'bigint' } },
    item: 'row_to_json(page)'
  }, page)
}
