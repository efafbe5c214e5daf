// GET /user/assistants/voices, languages and models, GET /user/campaigns and phone-numbers: lists of one shape.
import Type, { type Static, type TProperties, type TSchema } from 'typebox'
import { findCampaigns, findLanguages, findModels, findPhoneNumbers, findVoices } from '../../../projections/catalog.js'
import { Id } from '../../domain/json.js'
import { beginningOf, earliest, nameSearch, numberSearch, updatedFrom } from '../../http/filters.js'
import type { KeyKind } from '../../http/lists.js'
import { PhoneNumberAnswer } from '../phone-numbers/model.js'
import { list } from '../route.js'

const Name = (example: string, description?: string) =>
  Type.String({ ...(description && { description }), examples: [example] })

const ofCatalog = <Item extends TSchema, Filters extends TProperties = Record<never, TSchema>>(
  item: Item, example: Static<Item> & object, keys: KeyKind[], filters?: Filters
) => ({ source: 'catalog' as const, perPage: 100, tags: ['catalog'], item, example, keys, filters })

export const catalogRoutes = [
  list('/user/assistants/voices', {
    operationId: 'listVoices',
    summary: 'List the voices',
    description: 'By name; every user may choose from them.',
    ...ofCatalog(
      Type.Object({ id: Id({ description: 'The voice_id of an assistant.' }), name: Name('Amelia') }, { title: 'Voice' }),
      { id: 1, name: 'Amelia' }, ['text', 'whole'])
  }, ({ pool }, page) => findVoices(pool, page)),
  list('/user/assistants/languages', {
    operationId: 'listLanguages',
    summary: 'List the languages',
    description: 'By name; every user may choose from them.',
    ...ofCatalog(
      Type.Object({ name: Name('English', 'The language of an assistant.') }, { title: 'Language' }), { name: 'English' }, ['text'])
  }, ({ pool }, page) => findLanguages(pool, page)),
  list('/user/assistants/models', {
    operationId: 'listModels',
    summary: 'List the LLM models',
    description: 'By name; an assistant may use others as well.',
    ...ofCatalog(
      Type.Object({ name: Name('gpt-4o', 'The llm_model of an assistant.') }, { title: 'Model' }), { name: 'gpt-4o' }, ['text'])
  }, ({ pool }, page) => findModels(pool, page)),
  list('/user/campaigns', {
    operationId: 'listCampaigns',
    summary: 'List your campaigns',
    description: 'Newest first.',
    ...ofCatalog(Type.Object({
      id: Id({ description: 'The campaign_id of a lead.' }), name: Name('Spring renewals')
    }, { title: 'CampaignItem' }), { id: 1, name: 'Spring renewals' }, ['whole'], { ...nameSearch, ...updatedFrom })
  }, ({ pool }, page, { user, query: { search, updated_from } }) =>
    findCampaigns(pool, { userId: user.id, searched: search, updatedFrom: earliest(updated_from) }, page)),
  list('/user/phone-numbers', {
    operationId: 'listPhoneNumbers',
    summary: 'List your phone numbers',
    description: 'Newest first.',
    ...ofCatalog(
      PhoneNumberAnswer, { id: 1, phone_number: '+15551230001' }, ['whole'], { ...numberSearch, ...updatedFrom })
  }, ({ pool }, page, { user, query: { search, updated_from } }) => findPhoneNumbers(
    pool, { userId: user.id, searched: beginningOf(search), updatedFrom: earliest(updated_from) }, page))
]
