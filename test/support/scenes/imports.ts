// Imports of leads as a user makes them.
import type { Answer } from '../http/answer.js'
import { eventually } from '../eventually.js'
import type { TestService } from '../service.js'

export function imports ({ url, call, token }: Pick<TestService, 'url' | 'call' | 'token'>, user = '1') {
  const status = async (id: string) => (await call('GET', `/user/lead-import/${id}`, undefined, { user })).body.data
  return {
    sendJson: (body: object, headers: Record<string, string> = {}) => call('POST', '/user/leads/import', body, { user, headers }),
    /** Sends CSV to campaign 1, or as the query string says. */
    async sendCsv (text: string | Uint8Array, query = 'campaign_id=1', headers: Record<string, string> = {}): Promise<Answer> {
      const response = await fetch(`${url}/user/leads/import?${query}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${await token(user)}`, 'content-type': 'text/csv', ...headers },
        body: typeof text === 'string' ? text : new Blob([new Uint8Array(text)])
      })
      return { status: response.status, headers: response.headers, body: await response.json() }
    },
    status,
    /** The import when it has ended. */
    async ended (id: string, withinMs = 90_000) {
      await eventually(async () => (await status(id))?.status !== 'processing', withinMs)
      return await status(id)
    },
    results: async (id: string, query = '') => (await call('GET', `/user/lead-import/${id}/results?${query}`, undefined, { user })).body
  }
}

export const numberOf = (n: number) => `+1555${String(n).padStart(7, '0')}`
