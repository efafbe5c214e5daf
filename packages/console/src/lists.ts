// The lists of the API, as blocks ask for them.
import { items, type Answered } from '@ringledger/client'
import { useQuery } from '@tanstack/react-query'
import { client, pollMs } from './api.js'
import type { PageOf } from './blocks/list.js'
import { plain } from './blocks/text.js'

export const lists = {
  assistants: (query: object) => client.GET('/user/assistants', { params: { query } }),
  campaigns: (query: object) => client.GET('/user/campaigns', { params: { query } }),
  calls: (query: object) => client.GET('/user/calls', { params: { query } }),
  deliveries: (query: object) => client.GET('/user/webhook-deliveries', { params: { query } }),
  keys: (query: object) => client.GET('/user/api-keys', { params: { query } }),
  blacklist: (query: object) => client.GET('/user/blacklist', { params: { query } }),
  imports: (query: object) => client.GET('/user/lead-imports', { params: { query } }),
  leads: (query: object) => client.GET('/user/leads', { params: { query } }),
  history: (id: number, query: object) => client.GET('/user/assistant/{id}/history', { params: { path: { id }, query } }),
  results: (id: string, query: object) => client.GET('/user/lead-import/{id}/results', { params: { path: { id }, query } }),
  languages: (query: object) => client.GET('/user/assistants/languages', { params: { query } }),
  models: (query: object) => client.GET('/user/assistants/models', { params: { query } }),
  notices: (query: object) => client.GET('/user/webhook-notices', { params: { query } }),
  numbers: (query: object) => client.GET('/user/phone-numbers', { params: { query } }),
  voices: (query: object) => client.GET('/user/assistants/voices', { params: { query } })
}

/** Words of the API to choose from. */
export const named = (words: readonly string[]) => words.map((value) => ({ value, label: plain(value) }))

/** Words of the API, with what people read instead. */
export const labelled = (labels: Record<string, string>) =>
  Object.entries(labels).map(([value, label]) => ({ value, label }))

/** As many items of a list as are wanted, from page after page. */
async function upTo<Item> (
  most: number, ask: (query: object) => Promise<Answered<PageOf<Item>>>, query: object = {}
): Promise<Item[]> {
  const found: Item[] = []
  for await (const item of items((after) => ask({ ...query, per_page: 100, after }))) {
    if (found.push(item) >= most) break
  }
  return found
}

const mostOptions = 1_000

/** What an input offers of a list. */
export function useOptions<Item> (
  name: string, ask: (query: object) => Promise<Answered<PageOf<Item>>>,
  option: (item: Item) => { value: string, label: string }
) {
  const { data = [] } = useQuery({
    queryKey: [name, 'options'], queryFn: () => upTo(mostOptions, ask), refetchInterval: ({ state }) => state.error ? pollMs : false
  })
  return data.map(option)
}

export const useAssistantOptions = () =>
  useOptions('assistants', lists.assistants, ({ id, name }) => ({ value: String(id), label: name }))
export const useCampaignOptions = () =>
  useOptions('campaigns', lists.campaigns, ({ id, name }) => ({ value: String(id), label: name }))
