// GET /user/assistants/voices, languages and models, GET /user/campaigns and phone-numbers: lists of one shape.
import Type, { type Static, type TSchema } from 'typebox'
import { Id } from '../../domain/json.js'
import type { App } from '../../http/app-types.js'
import { answered } from '../../http/docs/describe.js'
import { page } from '../../http/docs/examples.js'
import { beginningOf, earliest, nameSearch, numberSearch, updatedFrom } from '../../http/filters.js'
import { type Found, type KeyKind, PageOf, Paging, type RequestedPage } from '../../http/lists.js'
import { readErrors, readHeaders, reading } from '../../http/read-position.js'
import {
  findCampaigns, findLanguages, findModels, findPhoneNumbers, findVoices, type OwnFilter
} from '../../../projections/catalog.js'
import { PhoneNumberAnswer } from '../phone-numbers/model.js'
import type { ApiServices } from '../../services/services.js'

interface List<Item extends TSchema> {
  url: string
  operationId: string
  summary: string
  description: string
  item: Item
  example: Static<Item> & object
  keys: KeyKind[]
  /** Of a list of the user's own. */
  search?: typeof nameSearch | typeof numberSearch
  find (pool: ApiServices['pool'], page: RequestedPage, filter: OwnFilter): Promise<Found<Static<Item>>>
}

const Name = (example: string, description?: string) =>
  Type.String({ ...(description && { description }), examples: [example] })

export function addCatalog (app: App, { pool, positions }: ApiServices): void {
  addList({
    url: '/user/assistants/voices',
    operationId: 'listVoices',
    summary: 'List the voices',
    description: 'By name; every user may choose from them.',
    item: Type.Object({ id: Id({ description: 'The voice_id of an assistant.' }), name: Name('Amelia') }, { title: 'Voice' }),
    example: { id: 1, name: 'Amelia' },
    keys: ['text', 'whole'],
    find: findVoices
  })
  addList({
    url: '/user/assistants/languages',
    operationId: 'listLanguages',
    summary: 'List the languages',
    description: 'By name; every user may choose from them.',
    item: Type.Object({ name: Name('English', 'The language of an assistant.') }, { title: 'Language' }),
    example: { name: 'English' },
    keys: ['text'],
    find: findLanguages
  })
  addList({
    url: '/user/assistants/models',
    operationId: 'listModels',
    summary: 'List the LLM models',
    description: 'By name; an assistant may use others as well.',
    item: Type.Object({ name: Name('gpt-4o', 'The llm_model of an assistant.') }, { title: 'Model' }),
    example: { name: 'gpt-4o' },
    keys: ['text'],
    find: findModels
  })
  addList({
    url: '/user/campaigns',
    operationId: 'listCampaigns',
    summary: 'List your campaigns',
    description: 'Newest first.',
    item: Type.Object({
      id: Id({ description: 'The campaign_id of a lead.' }), name: Name('Spring renewals')
    }, { title: 'CampaignItem' }),
    example: { id: 1, name: 'Spring renewals' },
    keys: ['whole'],
    search: nameSearch,
    find: (db, page, filter) => findCampaigns(db, filter, page)
  })
  addList({
    url: '/user/phone-numbers',
    operationId: 'listPhoneNumbers',
    summary: 'List your phone numbers',
    description: 'Newest first.',
    item: PhoneNumberAnswer,
    example: { id: 1, phone_number: '+15551230001' },
    keys: ['whole'],
    search: numberSearch,
    find: (db, page, { searched, ...filter }) =>
      findPhoneNumbers(db, { ...filter, searched: beginningOf(searched) }, page)
  })

  function addList<Item extends TSchema> ({ url, item, example, keys, search, find, ...described }: List<Item>): void {
    const filters = search ? { ...search, ...updatedFrom } : {}
    const paging = new Paging(url, 100, keys)
    const response: Record<number, TSchema> =
      { 200: answered('The page that was asked for.', PageOf(item), page(100, example)), ...readErrors }
    const querystring = Type.Object({ ...filters, ...paging.parameters })
    const schema = { ...described, tags: ['catalog'], security: [{ bearer: [] }], headers: readHeaders, querystring, response }
    app.get(url, { schema, ...reading('catalog', positions, paging) }, async ({ user, query }) => {
      const filter = search ? filterOf(user.id, query) : { userId: user.id }
      return paging.answer(query, await find(pool, paging.requested(query), filter))
    })
  }
}

interface Asked { per_page: number, search?: string, updated_from?: string }
const filterOf = (userId: string, { search, updated_from }: Asked): OwnFilter =>
  ({ userId, searched: search, updatedFrom: earliest(updated_from) })
