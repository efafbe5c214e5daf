// A service with all roles, driven over HTTP: assistants, leads, calls, webhooks and imports.
import { call as report } from '../events/call-events.js'
import { receiver } from '../receivers/receiver.js'
import { testService, type TestService } from '../service.js'
import { localWebhooks, type Answer } from '../running-service.js'
import type { Teardown } from '../teardown.js'
import { randomUUID } from 'node:crypto'
import { callReport, newAssistant } from '../bodies/bodies.js'
import { eventually } from '../eventually.js'

export const timestamp = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

/** The second attempt of a webhook is an hour after the first. */
const everyRole = (t: Teardown) =>
  testService(t, ['api', 'projector', 'worker'], { ...localWebhooks, WEBHOOK_SCHEDULE: '0s,1h' })

export async function readScene (t: Teardown) {
  const service = await everyRole(t)
  const { call } = service
  return {
    service,
    call,
    /** Answers every webhook with 200. */
    hook: await receiver(t),
    get: (path: string, user = '1'): Promise<Answer> => call('GET', path, undefined, { user }),
    create: async (body: object = {}, user = '1'): Promise<number> =>
      (await call('POST', '/user/assistant', newAssistant(body), { user })).body.data.id,
    createLead: async (phone_number: string, contacts: string[] = []) => (await call('POST', '/user/lead', {
      phone_number, campaign_id: 1, secondary_contacts: contacts.map((phone_number) => ({ phone_number }))
    })).body.data,
    complete: async (callId: string, body: object): Promise<Answer> => {
      const { call_id, ...rest } = report(callId)
      return await call('POST', `/engine/calls/${callId}/completed`, { ...rest, ...body }, { user: 'engine' })
    }
  }
}

type IsDone = (delivery: { status: string, attempts: Array<{ outcome: unknown }> }) => boolean

export const tried = (count: number): IsDone => ({ attempts }) =>
  attempts.filter(({ outcome }) => outcome !== null).length >= count

export async function webhookService (t: Teardown) {
  const service = await everyRole(t)
  const { call } = service
  const get = async (path: string, user = '1') => (await call('GET', path, undefined, { user })).body

  /** Creates an assistant whose webhook goes there, or is off. @returns its id */
  async function create (webhook_url: string | null, user = '1'): Promise<number> {
    const body = newAssistant({ is_webhook_active: webhook_url !== null, webhook_url })
    return (await call('POST', '/user/assistant', body, { user })).body.data.id
  }

  const delivery = (id: string, isDone: IsDone, user = '1') => eventually(async () => {
    const { data } = await get(`/user/webhook-deliveries/${id}`, user)
    return isDone(data) && data
  })

  /** Completes a call, and returns its delivery once `isDone`. */
  async function complete (assistantId: number, isDone: IsDone, user = '1') {
    const callId = randomUUID()
    const { headers } =
      await call('POST', `/engine/calls/${callId}/completed`, callReport(assistantId), { user: 'engine' })
    const found = await eventually(async () => {
      const { body } = await call('GET', `/user/webhook-deliveries?call_id=${callId}`, undefined, {
        user, headers: { 'x-read-position': headers.get('x-read-position') ?? '' }
      })
      return body.data[0]
    })
    return await delivery(found.id, isDone, user)
  }

  return { ...service, get, create, complete, delivery }
}

export function imports ({ url, call, token }: Pick<TestService, 'url' | 'call' | 'token'>, user = '1') {
  const status = async (id: string) => (await call('GET', `/user/lead-import/${id}`, undefined, { user })).body.data
  return {
    sendJson: (body: object, headers: Record<string, string> = {}) => call('POST', '/user/leads/import', body, { user, headers }),
    /** Sends CSV to campaign 1 by default. */
    async sendCsv (text: string | Uint8Array, query = 'campaign_id=1', headers: Record<string, string> = {}): Promise<Answer> {
      const response = await fetch(`${url}/user/leads/import?${query}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${await token(user)}`, 'content-type': 'text/csv', ...headers },
        body: typeof text === 'string' ? text : new Blob([new Uint8Array(text)])
      })
      return { status: response.status, headers: response.headers, body: await response.json() }
    },
    status,
    async ended (id: string, withinMs = 90_000) {
      await eventually(async () => (await status(id))?.status !== 'processing', withinMs)
      return await status(id)
    },
    results: async (id: string, query = '') => (await call('GET', `/user/lead-import/${id}/results?${query}`, undefined, { user })).body
  }
}

export const numberOf = (n: number) => `+1555${String(n).padStart(7, '0')}`

/** The answer to a request with exactly these refused fields. */
export const refusal = (errors: Record<string, string[]>) =>
  ({ status: 422, body: { message: 'The given data was invalid.', errors } })

export const told = ({ status, body }: Answer) => ({ status, body })

/** A value, short enough for the name of an assertion. */
export const brief = (value: unknown): string => JSON.stringify(value).slice(0, 60)
