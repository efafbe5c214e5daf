// An assistant as an outside caller meets it: created, updated and read over HTTP.
import { eventually } from '../eventually.js'
import type { TestService } from '../service.js'
import type { Answer } from './answer.js'

/** Settings and revision as the next GET shows them. */
export interface Seen { settings: Record<string, unknown>, revision: number }

export function assistantCaller ({ call }: TestService) {
  const create = (body: unknown): Promise<Answer> => call('POST', '/user/assistant', body)
  const update = (id: number, body: unknown): Promise<Answer> => call('PUT', `/user/assistant/${id}`, body)

  /** The assistant that a write answered with, not older than that write. */
  const seen = async (written: Answer): Promise<Seen> =>
    (await read(`/user/assistant/${written.body.data.id}`, written)).body.data

  /** How many assistants the user has, at the position of `after`. */
  const count = async (after: Answer): Promise<number> => (await read('/user/assistants', after)).body.meta.total

  /** Not older than `after`; repeated, as a caller would do, while the read model is late (503). */
  async function read (path: string, { headers }: Answer): Promise<Answer> {
    const position = headers.get('x-read-position') ?? ''
    return await eventually(async () => {
      const answer = await call('GET', path, undefined, { headers: { 'x-read-position': position } })
      return answer.status !== 503 && answer
    })
  }

  return { create, update, seen, count }
}

/** The answer to a request with exactly these refused fields. */
export const refusal = (errors: Record<string, string[]>) =>
  ({ status: 422, body: { message: 'The given data was invalid.', errors } })

/** What an assertion compares of an answer. */
export const told = ({ status, body }: Answer) => ({ status, body })

/** A value, short enough for the name of an assertion. */
export const brief = (value: unknown): string => JSON.stringify(value).slice(0, 60)
