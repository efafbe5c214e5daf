// What an installation offers (voices, languages, models) and what each user has (campaigns, phone numbers).
import type { Pool } from 'pg'
import { isOf } from '../src/domain/events.js'
import { believedId } from '../src/domain/json.js'
import { campaignEventTypes, type CampaignEvent } from '../src/features/campaigns/events.js'
import { evolve, type Campaign } from '../src/features/campaigns/model.js'
import { phoneNumberEventTypes, type PhoneNumberEvent } from '../src/features/phone-numbers/events.js'
import { lookUp, type LookUp } from '../src/postgres/batcher.js'
import { beginning, readPage, type Page, type Paged } from '../src/postgres/page.js'
import type { Positions } from './engine/positions.js'
import type { LogPosition, Projection, Rows } from './engine/projection.js'
import { iso, type RowOf, table } from './engine/table.js'
import { searchedBy, searchIndexes, wordsOf, type Searched } from './search.js'

const voices = table({ name: 'voices', key: 'id', columns: { id: 'bigint', name: 'text' } })
const languages = table({ name: 'languages', key: 'name', columns: { name: 'text' } })
const models = table({ name: 'models', key: 'name', columns: { name: 'text' } })

/** A deleted campaign keeps its row, because answers about its leads name it. */
const campaignTable = table({
  name: 'campaigns',
  key: 'id',
  columns: {
    id: 'bigint',
    user_id: 'text',
    name: 'text',
    words: 'text', // of the name, as searches compare them
    is_deleted: 'boolean',
    revision: 'bigint',
    created_at: 'timestamptz',
    updated_at: 'timestamptz'
  },
  indexes: [
    '(user_id, id DESC) WHERE is_deleted IS NOT TRUE',
    '(user_id, updated_at) WHERE is_deleted IS NOT TRUE',
    ...searchIndexes('id', 'is_deleted IS NOT TRUE')
  ]
})

/** A released number keeps its row, so that an earlier event cannot add it again. */
const phoneNumberTable = table({
  name: 'phone_numbers',
  key: 'id',
  columns: { id: 'bigint', user_id: 'text', phone_number: 'text', is_released: 'boolean', revision: 'bigint', updated_at: 'timestamptz' },
  indexes: [
    '(user_id, id DESC) WHERE is_released IS NOT TRUE',
    '(user_id, phone_number COLLATE "C") WHERE is_released IS NOT TRUE',
    '(user_id, updated_at) WHERE is_released IS NOT TRUE'
  ]
})

type CampaignRow = RowOf<typeof campaignTable>

export const catalog: Projection = {
  name: 'catalog',
  version: 6,
  eventTypes: [
    'VoiceAdded', 'LanguageAdded', 'ModelAdded', ...campaignEventTypes, ...phoneNumberEventTypes,
    'PhoneNumberClaimed' // has no row, but an id that was given out
  ],
  tables: [voices, languages, models, campaignTable, phoneNumberTable],
  keys (event) {
    if (isOf<CampaignEvent>(campaignEventTypes, event)) return [[campaignTable, event.data.campaign_id]]
    return isOf<PhoneNumberEvent>(phoneNumberEventTypes, event) ? [[phoneNumberTable, event.data.phone_number_id]] : []
  },
  project (event, at, rows) {
    if (isOf<CampaignEvent>(campaignEventTypes, event)) return projectCampaign(event, at, rows)
    if (isOf<PhoneNumberEvent>(phoneNumberEventTypes, event)) return projectPhoneNumber(event, at, rows)
    switch (event.type) {
      case 'VoiceAdded': return rows.put(voices, { id: event.data.id, name: event.data.name })
      case 'LanguageAdded': return rows.put(languages, { name: event.data.name })
      case 'ModelAdded': return rows.put(models, { name: event.data.name })
      default:
    }
  },
  idsSeen (event) {
    switch (event.type) {
      case 'CampaignCreated': return { sequence: 'ledger.campaign_ids', id: believedId(event.data.campaign_id) }
      case 'PhoneNumberAdded':
      case 'PhoneNumberClaimed': return { sequence: 'ledger.phone_number_ids', id: believedId(event.data.phone_number_id) }
      default: return undefined
    }
  }
}

function projectCampaign (event: CampaignEvent, { revision }: LogPosition, rows: Rows): void {
  const row = rows.get(campaignTable, event.data.campaign_id)
  if (row && revision <= BigInt(row.revision)) return
  const campaign = evolve(row && toCampaign(row), event)
  if (!campaign) return
  const { campaign_id: id, user_id, name, isDeleted: is_deleted = false, created_at, updated_at } = campaign
  rows.put(campaignTable, {
    id,
    user_id,
    name,
    words: wordsOf(name),
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

/** If a claim ends before its number is added, there is no row. */
function projectPhoneNumber (event: PhoneNumberEvent, { revision, created }: LogPosition, rows: Rows): void {
  const { phone_number_id: id, user_id } = event.data
  const row = rows.get(phoneNumberTable, id)
  if (row && revision <= BigInt(row.revision)) return
  const changed = { revision: Number(revision), updated_at: created.toISOString() }
  if (event.type === 'PhoneNumberReleased') {
    if (row) rows.put(phoneNumberTable, { ...row, ...changed, is_released: true })
    return
  }
  const { phone_number } = event.data
  if (!row) rows.put(phoneNumberTable, { id, user_id, phone_number, ...changed, is_released: false })
}

/** What an assistant's settings refer to. Absent values are not looked up. */
export interface CatalogQuestion {
  userId: string
  voiceId?: number | undefined
  language?: string | undefined
  phoneNumberId?: number | undefined
}

export interface CatalogAnswer { voiceExists: boolean, languageExists: boolean, ownsPhoneNumber: boolean }

/** One round trip. The answer for an absent value is false. */
export async function lookUpCatalog (
  db: Pool, { userId, voiceId, language, phoneNumberId }: CatalogQuestion
): Promise<CatalogAnswer> {
  const answer = await lookUp<CatalogAnswer>(db, {
    name: 'look-up-catalog',
    types: ['bigint', 'text', 'bigint', 'text'],
    text: `SELECT EXISTS (SELECT FROM read_model.voices WHERE id = $1) AS "voiceExists",
                  EXISTS (SELECT FROM read_model.languages WHERE name = $2) AS "languageExists",
                  EXISTS (SELECT FROM read_model.phone_numbers WHERE id = $3 AND user_id = $4 AND is_released IS NOT TRUE) AS "ownsPhoneNumber"`
  }, [voiceId, language, phoneNumberId, userId])
  if (!answer) throw new Error('a query without FROM gave no row')
  return answer
}

/** Finds rows by name, as they are. */
const findAll = <Row>(name: string, key: string, columns: string, by: Parameters<typeof readPage>[1]['order']['by']) =>
  (db: Pool, page: Page): Promise<Paged<Row>> => readPage(db, {
    name, key, columns, from: `read_model.${name}`, own: [], order: { direction: 'ASC', by }, item: 'row_to_json(page)'
  }, page)

export const findVoices =
  findAll<{ id: number, name: string }>('voices', 'id', 'id, name', { name: 'text', id: 'bigint' })
export const findLanguages = findAll<{ name: string }>('languages', 'name', 'name', { name: 'text' })
export const findModels = findAll<{ name: string }>('models', 'name', 'name', { name: 'text' })

/** Filters the user's campaigns, phone numbers or do-not-call entries. */
export interface OwnFilter {
  userId: string
  /** Words of a campaign's name, or the beginning of a number with its plus sign. */
  searched?: string | undefined
  /** ISO 8601, included. */
  updatedFrom?: string | undefined
}

/** A new lead needs both, so they share a statement: a campaign by $1 and $2, or an entry by $3. */
export const campaignOrEntry: LookUp = {
  name: 'campaign-or-entry',
  types: ['bigint', 'text', 'text'],
  text: `
    SELECT row_to_json(c) AS row FROM read_model.campaigns c WHERE id = $1 AND user_id = $2
    UNION ALL SELECT NULL FROM ledger.noted_entries WHERE stream = $3
    UNION ALL SELECT NULL FROM read_model.blacklist WHERE stream = $3 AND NOT is_deleted`,
  limit: 500
}

/** At the revision of its last event. Finds deleted campaigns too. */
export async function findCampaign (db: Pool, userId: string, id: number) {
  const row = await findCampaignRow(db, userId, id)
  return row && { ...toCampaign(row), revision: row.revision }
}

export const findCampaignRow = async (db: Pool, userId: string, id: number) =>
  (await lookUp<{ row: CampaignRow }>(db, campaignOrEntry, [id, userId, null]))?.row

/** Whether it is a campaign of the user that takes leads. @throws NotKnownYet, EventStoreUnavailable */
export async function takesLeads (
  { pool, positions }: { pool: Pool, positions: Positions }, userId: string, id: number
): Promise<boolean> {
  const campaign = await positions.orNotKnown('catalog', () => findCampaignRow(pool, userId, id))
  return campaign !== undefined && !campaign.is_deleted
}

const byName: Searched = {
  table: 'campaigns', those: 'is_deleted IS NOT TRUE', id: 'id', first: 'id', type: 'bigint', rowsOf: (hits) => hits
}

/** A page of the user's campaigns, newest first. */
export async function findCampaigns (
  db: Pool, { userId, searched, updatedFrom }: OwnFilter, page: Page
): Promise<Paged<{ id: number, name: string }>> {
  return await readPage(db, {
    name: 'campaigns',
    columns: 'id, name',
    from: 'read_model.campaigns',
    key: 'id',
    own: [['user_id = ?', userId], ['is_deleted IS NOT TRUE']],
    filters: [['updated_at >= ?', updatedFrom]],
    search: searchedBy(byName, userId, searched),
    order: { direction: 'DESC', by: { id: 'bigint' } },
    item: 'row_to_json(page)'
  }, page)
}

/** A page of the user's phone numbers, newest first. */
export async function findPhoneNumbers (
  db: Pool, { userId, searched, updatedFrom }: OwnFilter, page: Page
): Promise<Paged<{ id: number, phone_number: string }>> {
  return await readPage(db, {
    name: 'phone-numbers',
    columns: 'id, phone_number',
    from: 'read_model.phone_numbers',
    key: 'id',
    own: [['user_id = ?', userId], ['is_released IS NOT TRUE']],
    filters: [...beginning('phone_number', searched), ['updated_at >= ?', updatedFrom]],
    order: { direction: 'DESC', by: { id: 'bigint' } },
    item: 'row_to_json(page)'
  }, page)
}
