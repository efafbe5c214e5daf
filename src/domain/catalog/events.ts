// What an installation offers: voices, languages, models, and each user's campaigns and phone numbers.
import Type, { type Static } from 'typebox'
import { Id, PhoneNumber, withoutNul } from '../json.js'
import { UserId } from '../user.js'

const Name = Type.String({ minLength: 1, maxLength: 255, ...withoutNul })

export const VoiceAdded = Type.Object({ id: Id({}), name: Name })
export const LanguageAdded = Type.Object({ name: Name })
export const ModelAdded = Type.Object({ name: Name })
export const CampaignCreated = Type.Object({ campaign_id: Id({}), user_id: UserId, name: Name })
export const CampaignRenamed = CampaignCreated
export const PhoneNumberAdded = Type.Object({ phone_number_id: Id({}), user_id: UserId, phone_number: PhoneNumber() })

export type CatalogEvent =
  | { type: 'VoiceAdded', data: Static<typeof VoiceAdded> }
  | { type: 'LanguageAdded', data: Static<typeof LanguageAdded> }
  | { type: 'ModelAdded', data: Static<typeof ModelAdded> }
  | { type: 'CampaignCreated', data: Static<typeof CampaignCreated> }
  | { type: 'CampaignRenamed', data: Static<typeof CampaignRenamed> }
  | { type: 'PhoneNumberAdded', data: Static<typeof PhoneNumberAdded> }

export const catalogStreams = {
  voices: 'catalog-voices',
  languages: 'catalog-languages',
  models: 'catalog-models',
  campaign: (id: number) => `campaign-${id}`,
  phoneNumber: (id: number) => `phonenumber-${id}`
}
