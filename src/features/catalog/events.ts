// What an installation offers: voices, languages and models.
import Type, { type Static } from 'typebox'
import { Id, withoutNul } from '../../domain/json.js'

const Name = Type.String({ minLength: 1, maxLength: 255, ...withoutNul })

export const VoiceAdded = Type.Object({ id: Id({}), name: Name })
export const LanguageAdded = Type.Object({ name: Name })
export const ModelAdded = Type.Object({ name: Name })

export type CatalogEvent =
  | { type: 'VoiceAdded', data: Static<typeof VoiceAdded> }
  | { type: 'LanguageAdded', data: Static<typeof LanguageAdded> }
  | { type: 'ModelAdded', data: Static<typeof ModelAdded> }

export const catalogStreams = {
  voices: 'catalog-voices',
  languages: 'catalog-languages',
  models: 'catalog-models'
}
