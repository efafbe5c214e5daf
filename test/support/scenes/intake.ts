// Calls that come in by event and by HTTP, on a service with an assistant whose webhook leads to a receiver.
import { randomUUID } from 'node:crypto'
import { Store } from '@ringledger/event-transfer'
import { lentClient } from '../../../src/log/connection.js'
import { type Answer, localWebhooks } from '../running-service.js'
import { newAssistant, newLead } from '../bodies/bodies.js'
import { call, webhookTo } from '../events/call-events.js'
import { eventually } from '../eventually.js'
import { callOf, receiver, type Receiver } from '../receivers/receiver.js'
import { testService, type TestService } from '../service.js'
import type { Teardown } from '../teardown.js'

type Append = (
  stream: string, data: object | string, options?: { type?: string, revision?: bigint, contentType?: string }
) => Promise<void>

export async function intake (t: Teardown) {
  const service = await testService(t, ['api', 'projector', 'worker'], localWebhooks)
  const hook = await receiver(t)
  const on = webhookTo(hook.url)
  const create = async (path: string, body: object, user = '1'): Promise<number> =>
    (await service.call('POST', path, body, { user })).body.data.id
  const assistant = await create('/user/assistant', newAssistant(on))
  /** A lead of another user. */
  const strange = await create('/user/lead', newLead({ campaign_id: 3 }), '2')
  const append = await byteAppender(t, service.urls.eventStoreUrl)
  const appendLead = async (stream: string, data: object) => {
    await service.parts.streams.append(stream, [{ id: randomUUID(), type: 'LeadCreated', data, metadata: {} }], -1n)
  }
  const report = (callId: string, given: object = {}) =>
    append(`call-${callId}`, call(callId, { assistant_id: assistant, ...given }))
  const post = (callId: string, body: object | string): Promise<Answer> =>
    service.call('POST', `/engine/calls/${callId}/completed`, body, { user: 'engine' })
  const outcomes = outcomesOf(service, hook)

  /** Reports a healthy call. Once it has arrived, all earlier calls have been dispatched and projected. */
  async function isFed (): Promise<void> {
    const callId = randomUUID()
    await report(callId)
    await eventually(() => hook.received.some(({ body }) => body.includes(callId)))
    await eventually(async () => await outcomes.seen(callId) === 200)
  }
  return { service, hook, on, assistant, strange, append, appendLead, report, post, isFed, ...outcomes }
}

/** Appends exact bytes, as any client could. */
async function byteAppender (t: Teardown, eventStoreUrl: string): Promise<Append> {
  const store = new Store(lentClient(eventStoreUrl))
  t.teardown(() => store.close())
  const pipe = await store.openPipe(1)
  t.teardown(() => pipe.close())
  return async (stream, data, { type = 'CallCompleted', revision = 0n, contentType = 'application/json' } = {}) => {
    const bytes = Buffer.from(typeof data === 'string' ? data : JSON.stringify(data))
    const metadata = Buffer.alloc(0)
    await pipe.append([{
      stream, revision, id: randomUUID(), type, contentType, data: bytes, metadata, created: 0, position: 0n
    }])
    await pipe.drain()
  }
}

/** The outcome of a call: its row, its webhook, its row in the read model, and its parked events. */
function outcomesOf ({ call, parts: { pool } }: TestService, hook: Receiver) {
  return {
    rowOf: async (callId: string) => (await pool.query(`
      SELECT status, reason, duplicates FROM ledger.webhook_deliveries WHERE call_id = $1`, [callId])).rows,
    setAside: async (stream: string) => (await pool.query(`
      SELECT consumer, error FROM ledger.parked_events WHERE stream = $1 ORDER BY consumer`, [stream])).rows,
    seen: async (callId: string) => (await call('GET', `/user/call/${callId}`)).status,
    dataOf: (callId: string) => {
      const received = hook.received.find((received) => callOf(received) === callId)
      return received && JSON.parse(received.body.toString()).data
    }
  }
}

export const skipped = (reason: string, duplicates = 0) => [{ status: 'skipped', reason, duplicates }]
export const delivered = (duplicates = 0) => [{ status: 'delivered', reason: null, duplicates }]
