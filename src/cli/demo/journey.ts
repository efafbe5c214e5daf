// The demo's journey: an assistant, a lead, a call, and the webhook about it, over real HTTP.
import { Webhook } from 'standardwebhooks'
import type { Receiver } from './receiver.js'
import type { Timeline } from './timeline.js'

export interface Journey {
  url: string
  tokens: { user: string, engine: string }
  receiver: Receiver
  timeline: Timeline
}

interface Answer<Data> {
  status: number
  headers: Headers
  body: { message: string, data: Data }
}

/** @throws at the first step that does not hold */
export async function runJourney ({ url, tokens, receiver, timeline }: Journey): Promise<void> {
  const call = caller(url)
  const assistant = await timeline.step('create an assistant', 'POST /user/assistant', async () => {
    const { body, headers } = await call<{ id: number, name: string, type: string, mode: string }>('POST', '/user/assistant', tokens.user, 201, newAssistant)
    return [body.data, `${body.data.name} has id ${body.data.id}, ${body.data.type}, ${body.data.mode}; ${source(headers)}`] as const
  })
  await timeline.step('update it', `PUT /user/assistant/${assistant.id}`, async () => {
    const { headers } = await call('PUT', `/user/assistant/${assistant.id}`, tokens.user, 200, { webhook_url: receiver.url, is_webhook_active: true, speech_speed: 1.1 })
    return `webhook on, ${receiver.url}; revision ${headers.get('etag')}; ${source(headers)}`
  })
  const lead = await timeline.step('create a lead', 'POST /user/lead', async () => {
    const { body, headers } = await call<{ id: number, secondary_contacts: unknown[] }>('POST', '/user/lead', tokens.user, 200, newLead)
    return [body.data, `lead ${body.data.id} with ${body.data.secondary_contacts.length} secondary contacts; ${source(headers)}`] as const
  })
  await timeline.step('refuse it twice', 'POST /user/lead', async () => {
    const { body } = await call('POST', '/user/lead', tokens.user, 422, newLead)
    return `the same phone number again: 422, ${body.message}`
  })
  const endedAt = performance.now()
  await timeline.step('complete a call', 'POST /engine/calls/demo-1/completed', async () => {
    await call('POST', '/engine/calls/demo-1/completed', tokens.engine, 202, report(assistant.id, lead.id))
    return 'accepted: the event is in the log'
  })
  const first = await timeline.step('first attempt', 'webhook receiver', async () => {
    const delivery = await receiver.delivery(0, 5_000)
    return [delivery, `${(delivery.receivedAt - endedAt).toFixed(0)} ms after the report; the receiver answers ${delivery.answered} on purpose`] as const
  })
  const second = await timeline.step('second attempt', 'webhook receiver', async () => {
    const delivery = await receiver.delivery(1, 10_000)
    expect(delivery.body === first.body, 'the second attempt sent other bytes')
    expect(delivery.headers['webhook-id'] === first.headers['webhook-id'], 'the second attempt has another webhook-id')
    return [delivery, `${((delivery.receivedAt - first.receivedAt) / 1000).toFixed(2)} s later, the same bytes and webhook-id; answered ${delivery.answered}`] as const
  })
  await timeline.step('verify the signature', 'standardwebhooks', async () => {
    const { body: { data: { secret } } } = await call<{ secret: string }>('GET', '/user/webhook-secret', tokens.user, 200)
    const payload: unknown = new Webhook(secret).verify(second.body, second.headers as Record<string, string>)
    expect(isCallCompleted(payload, lead.id), 'the payload is not about this call')
    return `genuine: ${String(second.headers['webhook-signature']).slice(0, 24)}..., ${Buffer.byteLength(second.body)} bytes`
  })
}

/** Sends one request and holds the answer to the expected status. */
function caller (url: string) {
  return async function call<Data> (
    method: string, path: string, token: string, expected: number, body?: object
  ): Promise<Answer<Data>> {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) })
    })
    const answer: Answer<Data>['body'] = JSON.parse(await response.text())
    expect(response.status === expected, `${method} ${path} answered ${response.status} and not ${expected}: ${JSON.stringify(answer)}`)
    return { status: response.status, headers: response.headers, body: answer }
  }
}

function expect (holds: boolean, problem: string): asserts holds {
  if (!holds) throw new Error(problem)
}

const source = (headers: Headers) => headers.get('x-read-model') === 'pending' ? 'answered from the events' : 'answered from the read model'

interface CallPayload { type?: string, data?: { call_id?: string, lead?: { id?: number, status?: string } } }

function isCallCompleted (payload: unknown, leadId: number): boolean {
  const { type, data } = payload as CallPayload
  return type === 'call.completed' && data?.call_id === 'demo-1' && data.lead?.id === leadId && data.lead.status === 'completed'
}

const newAssistant = {
  assistant_name: 'Front desk',
  voice_id: 1,
  language: 'English',
  llm_model: 'gpt-4o',
  calls_direction: 'make',
  engine_type: 'pipeline',
  timezone: 'Europe/Amsterdam',
  initial_message: 'Hello, this is the front desk calling about your appointment.',
  system_prompt: 'You confirm appointments. Be brief and friendly.',
  phone_number_id: 1,
  post_call_schema: [{ name: 'confirmed', type: 'bool', description: 'Whether the appointment was confirmed' }]
}

const newLead = {
  phone_number: '+15551230100',
  campaign_id: 1,
  variables: { customer_name: 'Ada Example', email: 'ada@example.com', appointment: 'Tuesday 10:00' },
  secondary_contacts: [{ phone_number: '+15551230101', variables: { customer_name: 'Charles Example' } }, { phone_number: '+15551230102' }]
}

function report (assistantId: number, leadId: number): object {
  return {
    assistant_id: assistantId,
    lead_id: leadId,
    status: 'completed',
    direction: 'outbound',
    from: '+15551230001',
    to: '+15551230100',
    started_at: '2026-01-31T09:00:00Z',
    ended_at: '2026-01-31T09:00:42Z',
    duration: 42,
    recording_url: 'https://recordings.example.com/demo-1.mp3',
    transcript: [
      { role: 'assistant', text: newAssistant.initial_message, at: 0.4 },
      { role: 'customer', text: 'Yes, Tuesday at ten is fine.', at: 6.1 }
    ],
    input_variables: newLead.variables,
    extracted_variables: { confirmed: true },
    evaluation: { score: 5 }
  }
}
