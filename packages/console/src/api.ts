// The API: a client that carries the token, hooks that read, and hooks that change something.
import { connect, orThrow, Refused, type Answered, type components } from '@ringledger/client'
import { keepPreviousData, QueryClient, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { notify } from './blocks/notices.js'
import { currentSession, expire, type Person } from './session.js'

export type Schemas = components['schemas']
export { Refused } from '@ringledger/client'

/** With BASE_PATH: this module lies in `/console/` below it. */
const baseUrl = new URL('..', import.meta.url).href.replace(/\/$/, '')

/** How long a page waits for the first byte of what it reads, in milliseconds. The API itself gives up after 5 s. */
const silentMs = 10_000

/** Sends a request as who is signed in. A 401 ends the session: the page asks for a token, and stays where it is. */
async function send (request: Request): Promise<Response> {
  const { token } = currentSession()
  const silence = new AbortController()
  const timer = request.method === 'GET' ? setTimeout(() => silence.abort(), silentMs) : undefined
  const answer = await fetch(request, { signal: AbortSignal.any([request.signal, silence.signal]) })
    .finally(() => clearTimeout(timer))
  if (answer.status === 401 && token !== null) expire(token)
  return answer
}

export const client = connect({ url: baseUrl, token: () => currentSession().token ?? '', fetch: send, attempts: 2 })

/** Whose token it is. @throws Refused */
export async function personOf (token: string): Promise<Person> {
  const { GET } = connect({ url: baseUrl, token, attempts: 3 })
  const answer = await GET('/user/me')
  if (answer.response.status === 403 && !token.startsWith('rl_')) {
    const asOperator = await GET('/ops/api/queue')
    if (asOperator.response.status !== 403) {
      orThrow<unknown>(asOperator)
      return { role: 'ops', id: 'ops', mayChange: true }
    }
  }
  const { data: { id, scopes } } = orThrow(answer)
  return { role: 'user', id: `user ${id}`, mayChange: scopes.includes('write') }
}

/** Between two looks for news, in milliseconds. None is made while the tab is hidden. */
export const pollMs = 5_000

export const queries = new QueryClient({
  defaultOptions: { // always: without a network they fail at once, rather than wait for one and say nothing
    queries: { retry: false, refetchInterval: pollMs, placeholderData: keepPreviousData, networkMode: 'always' },
    mutations: { networkMode: 'always' }
  }
})

interface ReadOptions<Data> {
  /** How long until the next look, in milliseconds; by what was found where that says when nothing more will come. */
  pollMs?: number | false | ((data: Data | undefined) => number | false)
  enabled?: boolean
}

/** Reads what `key` names, and reads it again every few seconds, and after each change. */
export function useRead<Data> (
  key: readonly unknown[], ask: () => Promise<Answered<Data>>,
  { pollMs: every = pollMs, enabled = true }: ReadOptions<Data> = {}
) {
  return useQuery({
    queryKey: key,
    queryFn: async () => orThrow(await ask()),
    enabled,
    refetchInterval: typeof every === 'function' ? ({ state }) => every(state.data) : every
  })
}

/** What was read, and the tag that `If-Match` takes. */
export async function tagged<Data> (ask: () => Promise<Answered<{ data: Data }>>): Promise<Answered<Tagged<Data>>> {
  const { data, ...answer } = await ask()
  return { ...answer, ...(data && { data: { data: data.data, tag: answer.response.headers.get('etag') ?? '*' } }) }
}

export interface Tagged<Data> { data: Data, tag: string }

interface ActionOptions<Data> {
  /** What is said when it is done; the message of the answer when absent. */
  said?: string | ((data: Data) => string)
  then?: (data: Data) => void
}

/** Changes something. Everything that is shown is read again then: the client asks for an answer with the change. */
export function useAction<Input, Data> (
  act: (input: Input) => Promise<Answered<Data>>, { said, then }: ActionOptions<Data> = {}
) {
  const all = useQueryClient()
  return useMutation({
    mutationFn: async (input: Input) => orThrow(await act(input)),
    onSuccess: async (data) => {
      const message = typeof said === 'function' ? said(data) : said ?? Object(data).message
      if (message) notify(message)
      then?.(data)
      await all.invalidateQueries()
    }
  })
}

/** An error for a person to read. */
export function inWords (error: unknown): string {
  if (!(error instanceof Refused)) return 'Ringledger cannot be reached. Check your connection.'
  if (error.status === 401) return 'Your session expired before this was done. Try again.'
  if (error.status === 412) return 'Somebody has changed this meanwhile, so your changes are not saved.'
  if (error.status === 503) return `Ringledger is busy. ${error.message}`
  if (error.status >= 500) return `Ringledger could not answer this (${error.message}).`
  return error.message
}
