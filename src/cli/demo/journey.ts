// The demo's journey: an assistant, a lead, a call, and the webhook about it, over real HTTP.
import { Webhook } from 'standardwebhooks'
import { newAssistant, newCampaign, newLead, newNumber, report } from './bodies.js'
import { caller, expect, type Call } from './call.js'
import { importLeads } from './import.js'
import type { Delivery } from './receiver.js'
import type { Journey } from './scene.js'

interface Campaign { id: number, name: string }
interface PhoneNumber { id: number, phone_number: string }
interface Created { id: number, name: string, type: string, mode: string }
interface CreatedLead { id: number, secondary_contacts: unknown[] }

/** @throws at the first step that does not hold */
export async function runJourney (journey: Journey): Promise<void> {
  const call = caller(journey.url)
  const { campaignId, numberId } = await prepare(journey, call)
  const assistantId = await configure(journey, call, numberId)
  const leadId = await register(journey, call, campaignId)
  await importLeads(journey, call, campaignId)
  const endedAt = performance.now()
  await journey.timeline.step('complete a call', 'POST /engine/calls/demo-1/completed', async () => {
    await call('POST', '/engine/calls/demo-1/completed', journey.tokens.engine, 202, report(assistantId, leadId))
    return 'accepted: the event is in the log'
  })
  const delivery = await receive(journey, endedAt)
  await verify(journey, call, delivery, leadId)
}

async function prepare ({ tokens: { user }, timeline }: Journey, call: Call) {
  const campaignId = await timeline.step('create a campaign', 'POST /user/campaign', async () => {
    const { body: { data: { id, name } } } = await call<Campaign>('POST', '/user/campaign', user, 201, newCampaign)
    return [id, `${name} has id ${id}`] as const
  })
  const numberId = await timeline.step('add a phone number', 'POST /user/phone-number', async () => {
    const { body: { data } } = await call<PhoneNumber>('POST', '/user/phone-number', user, 201, newNumber)
    return [data.id, `${data.phone_number} has id ${data.id}`] as const
  })
  return { campaignId, numberId }
}

async function configure ({ tokens, receiver, timeline }: Journey, call: Call, numberId: number): Promise<number> {
  const { id } = await timeline.step('create an assistant', 'POST /user/assistant', async () => {
    const { body: { data }, headers } = await call<Created>('POST', '/user/assistant', tokens.user, 201, {
      ...newAssistant, phone_number_id: numberId
    })
    return [data, `${data.name} has id ${data.id}, ${data.type}, ${data.mode}; ${source(headers)}`] as const
  })
  await timeline.step('update it', `PUT /user/assistant/${id}`, async () => {
    const changes = { webhook_url: receiver.url, is_webhook_active: true, speech_speed: 1.1 }
    const { headers } = await call('PUT', `/user/assistant/${id}`, tokens.user, 200, changes)
    return `webhook on, ${receiver.url}; revision ${headers.get('etag')}; ${source(headers)}`
  })
  return id
}

async function register ({ tokens, timeline }: Journey, call: Call, campaignId: number): Promise<number> {
  const lead = { ...newLead, campaign_id: campaignId }
  const { id } = await timeline.step('create a lead', 'POST /user/lead', async () => {
    const { body: { data }, headers } = await call<CreatedLead>('POST', '/user/lead', tokens.user, 200, lead)
    const contacts = `${data.secondary_contacts.length} secondary contacts`
    return [data, `lead ${data.id} with ${contacts}; ${source(headers)}`] as const
  })
  await timeline.step('refuse it twice', 'POST /user/lead', async () => {
    const { body } = await call('POST', '/user/lead', tokens.user, 422, lead)
    return `the same phone number again: 422, ${body.message}`
  })
  return id
}

async function receive ({ receiver, timeline }: Journey, endedAt: number): Promise<Delivery> {
  const first = await timeline.step('first attempt', 'webhook receiver', async () => {
    const delivery = await receiver.delivery(0, 5_000)
    const after = (delivery.receivedAt - endedAt).toFixed(0)
    return [delivery, `${after} ms after the report; the receiver answers ${delivery.answered} on purpose`] as const
  })
  return await timeline.step('second attempt', 'webhook receiver', async () => {
    const delivery = await receiver.delivery(1, 10_000)
    const isSameId = delivery.headers['webhook-id'] === first.headers['webhook-id']
    expect(delivery.body === first.body, 'the second attempt sent other bytes')
    expect(isSameId, 'the second attempt has another webhook-id')
    const after = ((delivery.receivedAt - first.receivedAt) / 1000).toFixed(2)
    return [delivery, `${after} s later, the same bytes and webhook-id; answered ${delivery.answered}`] as const
  })
}

async function verify (
  { tokens, timeline }: Journey, call: Call, { body, headers }: Delivery, leadId: number
): Promise<void> {
  await timeline.step('verify the signature', 'standardwebhooks', async () => {
    const answer = await call<{ secret: string }>('GET', '/user/webhook-secret', tokens.user, 200)
    const payload: unknown = new Webhook(answer.body.data.secret).verify(body, headers as Record<string, string>)
    expect(isCallCompleted(payload, leadId), 'the payload is not about this call')
    const signature = String(headers['webhook-signature']).slice(0, 24)
    return `genuine: ${signature}..., ${Buffer.byteLength(body)} bytes`
  })
}

const source = (headers: Headers) =>
  headers.get('x-read-model') === 'pending' ? 'answered from the events' : 'answered from the read model'

interface CallPayload { type?: string, data?: { call_id?: string, lead?: { id?: number, status?: string } } }

function isCallCompleted (payload: unknown, leadId: number): boolean {
  const { type, data } = payload as CallPayload
  const isThisCall = type === 'call.completed' && data?.call_id === 'demo-1'
  return isThisCall && data.lead?.id === leadId && data.lead.status === 'completed'
}
