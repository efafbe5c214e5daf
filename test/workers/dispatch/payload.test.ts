// The fields of a webhook, and what decides about each.
import t from 'tap'
import { isSigned } from '../../../docs/webhooks/is-signed.js'
import type { JsonObject } from '../../../src/domain/json.js'
import { callId, completedCall, webhookPayload } from '../../../src/http/docs/examples.js'
import { buildBody, type PayloadSources } from '../../../workers/dispatch/payload.js'
import { uuidV5 } from '../../../src/log/stored.js'
import { deliveryId } from '../../../workers/dispatch/payload.js'
import { newSecret, signedHeaders } from '../../../workers/deliver/sign.js'
import { call, settings } from '../../support/events/call-events.js'
import { webhookProblems } from '../../support/documents/webhook-schemas.js'
import { at, lead, body, read } from './payload-bodies.js'
import { fc } from '../../support/fuzz/property.js'

t.test('the payload has exactly these fields', async (t) => {
  t.strictSame(read(body()), {
    type: 'call.completed',
    timestamp: '2026-01-31T12:01:02.345Z',
    data: {
      call_id: 'c-1',
      status: 'completed',
      direction: 'outbound',
      from: '+15551230009',
      to: '+15551230001',
      started_at: '2026-01-31T12:00:00.000Z',
      ended_at: '2026-01-31T12:01:00.000Z',
      duration: 60,
      assistant: { id: 1, name: 'Front desk' },
      lead: {
        id: 7,
        phone_number: '+15551230001',
        variables: { zeta: 1, customer_name: 'Ada', email: '' },
        status: 'completed',
        campaign: { id: 3, name: 'Spring' }
      },
      transcript: 'assistant: Hello\ncustomer: Grüezi 👋',
      transcript_turns: [
        { role: 'assistant', text: 'Hello', at: 0 }, { role: 'customer', text: 'Grüezi 👋', at: 1.5 }
      ],
      input_variables: { name: 'Ada' },
      extracted_variables: { status: true, summary: null },
      evaluation: { score: 0.5 },
      recording_url: 'https://recordings.example.com/1.mp3'
    }
  })
})

t.test('the example of the API document is the payload of its call', async (t) => {
  const post_call_schema = [{ name: 'renewed', type: 'bool' as const, description: 'Whether the customer renewed' }]
  const assistant = {
    assistant_id: 1, user_id: '1', settings: settings({ assistant_name: 'Renewals', post_call_schema })
  }
  const { id, phone_number, variables, status, campaign } = read(JSON.stringify(webhookPayload)).data.lead
  const text = buildBody({
    call: { call_id: callId, ...completedCall },
    at: new Date(webhookPayload.timestamp),
    assistant,
    lead: { id, primary_id: null, phone_number, variables, status, user_id: '1', campaign_id: campaign.id },
    campaignName: campaign.name
  })
  t.strictSame(read(text), webhookPayload)
})

t.test('a call without a lead says null, and a campaign that has no name yet an empty one', async (t) => {
  const of = (given: Pick<PayloadSources, 'lead' | 'campaignName'>) =>
    buildBody({ call: call('c'), at, assistant: { assistant_id: 1, user_id: '1', settings: settings() }, ...given })
  const without = of({ lead: undefined, campaignName: undefined })
  t.equal(read(without).data.lead, null)
  t.same(webhookProblems(without), [])
  const early = of({ lead, campaignName: undefined })
  t.same(read(early).data.lead.campaign, { id: 3, name: '' })
  t.same(webhookProblems(early), [])
})

t.test('each flag adds its own field and nothing else, null when the engine has none', async (t) => {
  const fields = Object.keys(read(body()).data)
  for (const include_recording_in_webhook of [true, false]) {
    for (const post_call_evaluation of [true, false]) {
      for (const given of [{}, { recording_url: null, evaluation: null }]) {
        const text = body(given, { include_recording_in_webhook, post_call_evaluation })
        const left = { recording_url: include_recording_in_webhook, evaluation: post_call_evaluation }
        const stays = (name: string) => Object.entries(left).every(([flagged, stays]) => name !== flagged || stays)
        t.same(Object.keys(read(text).data), fields.filter(stays))
        t.same(webhookProblems(text), [])
      }
    }
  }
  t.match(read(body({ recording_url: null, evaluation: null })).data, { recording_url: null, evaluation: null })
})

t.test('extracted variables are those of the schema, missing ones null, others left out', async (t) => {
  const schema = ['mood', '__proto__', 'toString'].map((name) => ({ name, type: 'string' as const, description: 'x' }))
  const text = body({ extracted_variables: { mood: 'good', other: 1 } }, { post_call_schema: schema })
  t.match(text, '"extracted_variables":{"mood":"good","__proto__":null,"toString":null}')
  const falsy = { a: false, b: 0, c: '', d: null }
  const names = Object.keys(falsy).map((name) => ({ name, type: 'string' as const, description: 'x' }))
  const { extracted_variables } = read(body({ extracted_variables: falsy }, { post_call_schema: names })).data
  t.same(extracted_variables, falsy, 'what is false or empty stays')
  t.same(read(body({}, { post_call_schema: [] })).data.extracted_variables, {})
})

t.test('any text and number of a call arrives as it was, and the signed text is the sent bytes', async () => {
  const secret = newSecret()
  const text = fc.string({ unit: 'binary' })
  const variables = fc.dictionary(text, fc.jsonValue({ stringUnit: 'binary' }))
  fc.assert(fc.property(variables, text, (variables, said) => {
    const input_variables: JsonObject = JSON.parse(JSON.stringify(variables))
    const text = body({ input_variables, transcript: [{ role: 'customer', text: said, at: 0 }] })
    const { data } = read(text)
    const headers = signedHeaders({ id: 'c-1', attempt: 1, body: Buffer.from(text), at, secrets: [secret] })
    return JSON.stringify(data.input_variables) === JSON.stringify(input_variables) &&
      data.transcript_turns[0].text === said && isSigned(secret, headers, Buffer.from(text), at.getTime() / 1000)
  }))
})

t.test('the webhook-id follows from the call alone', async (t) => {
  t.equal(deliveryId('c-1'), deliveryId('c-1'))
  t.not(deliveryId('c-1'), deliveryId('c-2'))
  t.match(deliveryId('c-1'), /^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  t.not(deliveryId('c-1'), uuidV5('00000000-0000-0000-0000-000000000000', 'c-1:call.completed'))
})
