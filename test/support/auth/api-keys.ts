// API keys of a test: a token creates them, and requests then carry them instead.
import type { Answer } from '../running-service.js'
import type { TestService } from '../service.js'

interface MadeKey { id: number, key: string }

export const newKey = (...scopes: string[]) => ({ name: 'test', scopes })

export function apiKeys ({ call }: Pick<TestService, 'call'>) {
  return {
    async make (scopes: string[], user = '1', more: object = {}): Promise<MadeKey> {
      const { status, body } = await call('POST', '/user/api-key', { ...newKey(...scopes), ...more }, { user })
      if (status !== 201) throw new Error(`${status} ${JSON.stringify(body)}`)
      return body.data
    },
    with: (key: string) => async (method: string, path: string, body?: unknown): Promise<Answer> =>
      await call(method, path, body, { headers: { authorization: `Bearer ${key}` } })
  }
}
