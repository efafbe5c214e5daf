// A service whose assistants have webhooks, and what becomes of their calls.
import { randomUUID } from 'node:crypto'
import type { Test } from 'tap'
import { callReport, newAssistant } from '../bodies/bodies.js'
import { eventually } from '../eventually.js'
import { testService } from '../service.js'

type IsDone = (delivery: { status: string, attempts: Array<{ outcome: unknown }> }) => boolean

/** So many attempts have ended. */
export const tried = (count: number): IsDone => ({ attempts }) =>
  attempts.filter(({ outcome }) => outcome !== null).length >= count

/** Every role, with webhooks to this machine allowed. */
export async function webhookService (t: Test) {
  const service = await testService(t, ['api', 'projector', 'worker'], {
    WEBHOOK_ALLOW_HTTP: 'true', WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8', WEBHOOK_SCHEDULE: '0s,1h'
  })
  const { call } = service
  const get = async (path: string, user = '1') => (await call('GET', path, undefined, { user })).body

  /** An assistant whose webhook goes there, or is off. @returns its id */
  async function create (webhook_url: string | null, user = '1'): Promise<number> {
    const body = newAssistant({ is_webhook_active: webhook_url !== null, webhook_url })
    return (await call('POST', '/user/assistant', body, { user })).body.data.id
  }

  const delivery = (id: string, isDone: IsDone, user = '1') => eventually(async () => {
    const { data } = await get(`/user/webhook-deliveries/${id}`, user)
    return isDone(data) && data
  })

  /** Completes a call, and answers its delivery once `isDone`. */
  async function complete (assistantId: number, isDone: IsDone, user = '1') {
    const callId = randomUUID()
    const authorization = `Bearer ${await service.token('engine', 'engine')}`
    const { headers } =
      await call('POST', `/engine/calls/${callId}/completed`, callReport(assistantId), { headers: { authorization } })
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
