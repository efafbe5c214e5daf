// What an installation offers, and what each user has.
import type { Pool } from 'pg'
import { readPage, type Filter, type Page, type Paged } from '../src/postgres/page.js'
import type { Projection } from './engine/projection.js'
import { table } from './engine/table.js'

const voices = table<{ id: number, name: string }>({
  name: 'voices', key: 'id', columns: { id: 'bigint', name: 'text' }
})
const languages = table<{ name: string }>({ name: 'languages', key: 'name', columns: { name: 'text' } })
const models = table<{ name: string }>({ name: 'models', key: 'name', columns: { name: 'text' } })
const campaigns = table<{ id: number, user_id: string, name: string }>({
  name: 'campaigns',
  key: 'id',
  columns: { id: 'bigint', user_id: 'text', name: 'text' },
  indexes: ['(user_id, id DESC)']
})
const phoneNumbers = table<{ id: number, user_id: string, phone_number: string }>({
  name: 'phone_numbers',
  key: 'id',
  columns: { id: 'bigint', user_id: 'text', phone_number: 'text' },
  indexes: ['(user_id, id DESC)']
})

export const catalog: Projection = {
  name: 'catalog',
  version: 1,
  eventTypes: ['VoiceAdded', 'LanguageAdded', 'ModelAdded', 'CampaignCreated', 'CampaignRenamed', 'PhoneNumberAdded'],
  tables: [voices, languages, models, campaigns, phoneNumbers],
  keys: () => [],
  project (event, _at, rows) {
    switch (event.type) {
      case 'VoiceAdded': return rows.put(voices, { id: event.data.id, name: event.data.name })
      case 'LanguageAdded': return rows.put(languages, { name: event.data.name })
      case 'ModelAdded': return rows.put(models, { name: event.data.name })
      case 'CampaignCreated':
      case 'CampaignRenamed': {
        const { campaign_id, user_id, name } = event.data
        return rows.put(campaigns, { id: campaign_id, user_id, name })
      }
      case 'PhoneNumberAdded': {
        const { phone_number_id, user_id, phone_number } = event.data
        return rows.put(phoneNumbers, { id: phone_number_id, user_id, phone_number })
      }
      default:
    }
  }
}

/** What an assistant's settings refer to; a value that is not given is not looked up. */
export interface CatalogQuestion {
  userId: string
  voiceId?: number | undefined
  language?: string | undefined
  phoneNumberId?: number | undefined
}

export interface CatalogAnswer { voiceExists: boolean, languageExists: boolean, ownsPhoneNumber: boolean }

/** Answers the whole question in one round trip; what was not asked is false. */
export async function lookUpCatalog (
  db: Pool, { userId, voiceId, language, phoneNumberId }: CatalogQuestion
): Promise<CatalogAnswer> {
  const { rows: [answer] } = await db.query<CatalogAnswer>({
    name: 'look-up-catalog',
    text: `SELECT EXISTS (SELECT FROM read_model.voices WHERE id = $1) AS "voiceExists",
                  EXISTS (SELECT FROM read_model.languages WHERE name = $2) AS "languageExists",
                  EXISTS (SELECT FROM read_model.phone_numbers WHERE id = $3 AND user_id = $4) AS "ownsPhoneNumber"`,
    values: [voiceId, language, phoneNumberId, userId]
  })
  if (!answer) throw new Error('a query without FROM gave no row')
  return answer
}

/** The name of the user's campaign, or nothing when it is not one of theirs. */
export async function findCampaignName (db: Pool, userId: string, campaignId: number): Promise<string | undefined> {
  const { rows } = await db.query<{ name: string }>({
    name: 'find-campaign-name',
    text: 'SELECT name FROM read_model.campaigns WHERE id = $1 AND user_id = $2',
    values: [campaignId, userId]
  })
  return rows[0]?.name
}

export interface Named { name: string }
export interface NamedWithId extends Named { id: number }
export interface NumberOwned { id: number, phone_number: string }

/** A page of the voices, by name. */
export async function findVoices (db: Pool, page: Page): Promise<Paged<NamedWithId>> {
  const from = 'read_model.voices'
  return await readPage(db, { ...whole, key: 'id', columns: 'id, name', from, order: byName }, page)
}

/** A page of the languages, by name. */
export async function findLanguages (db: Pool, page: Page): Promise<Paged<Named>> {
  const from = 'read_model.languages'
  return await readPage(db, { ...whole, key: 'name', columns: 'name', from, order: byNameAlone }, page)
}

/** A page of the models, by name. */
export async function findModels (db: Pool, page: Page): Promise<Paged<Named>> {
  const from = 'read_model.models'
  return await readPage(db, { ...whole, key: 'name', columns: 'name', from, order: byNameAlone }, page)
}

/** A page of the user's campaigns, newest first. */
export async function findCampaigns (db: Pool, userId: string, page: Page): Promise<Paged<NamedWithId>> {
  const filters = ownedBy(userId)
  return await readPage(
    db, { ...whole, key: 'id', columns: 'id, name', from: 'read_model.campaigns', filters, order: newestFirst }, page)
}

/** A page of the user's phone numbers, newest first. */
export async function findPhoneNumbers (db: Pool, userId: string, page: Page): Promise<Paged<NumberOwned>> {
  return await readPage(db, {
    ...whole,
    key: 'id',
    columns: 'id, phone_number',
    from: 'read_model.phone_numbers',
    filters: ownedBy(userId),
    order: newestFirst
  }, page)
}

const byName = { direction: 'ASC', by: { name: 'text', id: 'bigint' } } as const
const byNameAlone = { direction: 'ASC', by: { name: 'text' } } as const
const newestFirst = { direction: 'DESC', by: { id: 'bigint' } } as const

/** Every row, as it is. */
const whole = { filters: [], item: 'row_to_json(page)' }

const ownedBy = (userId: string): Filter[] => [['user_id = ?', userId]]
