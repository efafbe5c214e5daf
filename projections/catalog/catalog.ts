// What an installation offers, and what each user has.
import type { Pool } from 'pg'
import { campaignEventTypes, isCampaignEvent } from '../../src/features/campaigns/events.js'
import { believedId } from '../../src/domain/json.js'
import { lookUp } from '../../src/postgres/look-up.js'
import { readPage, type Page, type Paged } from '../../src/postgres/page.js'
import { campaignTable, projectCampaign } from './campaigns.js'
import type { Projection } from '../folding/projection.js'
import { table } from '../folding/table.js'
import { phoneNumberTable, projectPhoneNumber } from './phone-numbers.js'

const voices = table<{ id: number, name: string }>({
  name: 'voices', key: 'id', columns: { id: 'bigint', name: 'text' }
})
const languages = table<{ name: string }>({ name: 'languages', key: 'name', columns: { name: 'text' } })
const models = table<{ name: string }>({ name: 'models', key: 'name', columns: { name: 'text' } })
export const catalog: Projection = {
  name: 'catalog',
  version: 4,
  eventTypes: [
    'VoiceAdded', 'LanguageAdded', 'ModelAdded', ...campaignEventTypes, 'PhoneNumberAdded', 'PhoneNumberReleased',
    'PhoneNumberClaimed' // has no row, but an id that was given out
  ],
  tables: [voices, languages, models, campaignTable, phoneNumberTable],
  keys (event) {
    if (isCampaignEvent(event)) return [[campaignTable, event.data.campaign_id]]
    const { type, data } = event
    const isNumber = type === 'PhoneNumberAdded' || type === 'PhoneNumberReleased'
    return isNumber ? [[phoneNumberTable, data.phone_number_id]] : []
  },
  project (event, at, rows) {
    switch (event.type) {
      case 'VoiceAdded': return rows.put(voices, { id: event.data.id, name: event.data.name })
      case 'LanguageAdded': return rows.put(languages, { name: event.data.name })
      case 'ModelAdded': return rows.put(models, { name: event.data.name })
      case 'CampaignCreated':
      case 'CampaignRenamed':
      case 'CampaignDeleted': return projectCampaign(event, at, rows)
      case 'PhoneNumberAdded':
      case 'PhoneNumberReleased': return projectPhoneNumber(event, at, rows)
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

export interface Named { name: string }
export interface NamedWithId extends Named { id: number }

/** A page of the voices, by name. */
export async function findVoices (db: Pool, page: Page): Promise<Paged<NamedWithId>> {
  const from = 'read_model.voices'
  return await readPage(db, { ...whole, name: 'voices', key: 'id', columns: 'id, name', from, order: byName }, page)
}

/** A page of the languages, by name. */
export async function findLanguages (db: Pool, page: Page): Promise<Paged<Named>> {
  const from = 'read_model.languages'
  return await readPage(db, { ...whole, name: 'languages', key: 'name', columns: 'name', from, order: byNameAlone }, page)
}

/** A page of the models, by name. */
export async function findModels (db: Pool, page: Page): Promise<Paged<Named>> {
  const from = 'read_model.models'
  return await readPage(db, { ...whole, name: 'models', key: 'name', columns: 'name', from, order: byNameAlone }, page)
}

const byName = { direction: 'ASC', by: { name: 'text', id: 'bigint' } } as const
const byNameAlone = { direction: 'ASC', by: { name: 'text' } } as const

/** Every row, as it is. */
const whole = { own: [], item: 'row_to_json(page)' }
