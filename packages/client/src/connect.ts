// A client with the types of the API document. It retries failed requests and reads its own writes.
import createClient, { type Client as OpenApiClient } from 'openapi-fetch'
import type { paths } from './api.js'
import { retrying, type RetryOptions } from './retrying.js'

/** `GET`, `POST`, `PUT` and `DELETE`, each with the paths that take it: see openapi-fetch. */
export type Client = OpenApiClient<paths>

export interface ConnectOptions extends RetryOptions {
  /** Where the API is, with BASE_PATH: `https://api.example.com`. */
  url: string
  /** A JWT or an API key; a function is asked before every request. */
  token: string | (() => string | Promise<string>)
  /** Sends a request; the platform's `fetch` when absent. */
  fetch?: (request: Request) => Promise<Response>
}

export function connect ({ url, token, fetch = globalThis.fetch, ...options }: ConnectOptions): Client {
  const send = retrying(fetch, options)
  let position: bigint | undefined
  const client = createClient<paths>({ baseUrl: url.replace(/\/+$/, ''), fetch: send })
  client.use({
    async onRequest ({ request }) {
      request.headers.set('authorization', `Bearer ${typeof token === 'string' ? token : await token()}`)
      if (request.method !== 'GET' || position === undefined || request.headers.has('x-read-position')) return
      request.headers.set('x-read-position', String(position)) // an answer that is at least as new as what was written
    },
    onResponse ({ request, response }) {
      const written = request.method === 'GET' ? null : response.headers.get('x-read-position')
      if (written !== null && /^\d+$/.test(written)) position = laterOf(position, BigInt(written))
    }
  })
  return client
}

const laterOf = (one: bigint | undefined, other: bigint) => one !== undefined && one > other ? one : other
