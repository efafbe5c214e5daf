// What an installation offers: voices, languages and models.
import Type from 'typebox'
import { Id, withoutNul } from '../../domain/json.js'
import { firstVersion, type EventOf } from '../../domain/upcast.js'

const name = Type.String({ minLength: 1, maxLength: 255, ...withoutNul })

export const catalogEvents = {
  VoiceAdded: firstVersion(Type.Object({ id: Id({}), name })),
  LanguageAdded: firstVersion(Type.Object({ name })),
  ModelAdded: firstVersion(Type.Object({ name }))
}
export type CatalogEvent = EventOf<typeof catalogEvents>

export const catalogStreams = { voices: 'catalog-voices', languages: 'catalog-languages', models: 'catalog-models' }
