// A service whose assistants, leads and calls are made and read over HTTP.
import { call as report } from '../events/call-events.js'
import { receiver } from '../receivers/receiver.js'
import { newAssistant, testService } from '../service.js'
import type { Answer } from './answer.js'
import type { Teardown } from '../teardown.js'

/** As answers give a time. */
export const timestamp = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

/** All roles; the second attempt of a webhook is an hour after the first. */
export async function readScene (t: Teardown) {
  const service = await testService(t, ['api', 'projector', 'worker'], {
    WEBHOOK_ALLOW_HTTP: 'true', WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8', WEBHOOK_SCHEDULE: '0s,1h'
  })
  const { call } = service
  return {
    service,
    call,
    /** Takes every webhook. */
    hook: await receiver(t),
    get: (path: string, user = '1'): Promise<Answer> => call('GET', path, undefined, { user }),
    /** The id of a new assistant. */
    create: async (body: object = {}, user = '1'): Promise<number> =>
      (await call('POST', '/user/assistant', { ...newAssistant, ...body }, { user })).body.data.id,
    createLead: async (phone_number: string, contacts: string[] = []) => (await call('POST', '/user/lead', {
      phone_number, campaign_id: 1, secondary_contacts: contacts.map((phone_number) => ({ phone_number }))
    })).body.data,
    complete: async (callId: string, body: object): Promise<Answer> => {
      const { call_id, ...rest } = report(callId)
      const headers = { authorization: `Bearer ${await service.token('engine', 'engine')}` }
      return await call('POST', `/engine/calls/${callId}/completed`, { ...rest, ...body }, { headers })
    }
  }
}
