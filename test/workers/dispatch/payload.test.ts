// The fields of a webhook, and what decides about each. A body has at most 256 KiB: fields are left out in a documented
// order until it fits.
import type { AssistantSettings } from '../../../src/features/assistants/events.js'
import type { CallCompleted } from '../../../src/features/calls/events.js'
import { buildBody, type PayloadSources, longestBodyBytes } from '../../../workers/dispatch/payload.js'
import { call, settings } from '../../support/events/call-events.js'
import t from 'tap'
import { isSigned } from '../../../docs/webhooks/is-signed.js'
import type { JsonObject } from '../../../src/domain/json.js'
import { callId, completedCall, webhookPayload } from '../../../src/http/docs/examples.js'
import { newSecret, signedHeaders } from '../../../workers/deliver/sign.js'
import { webhookProblems } from '../../support/documents/webhook-schemas.js'
import { anyText, character, fc } from '../../support/fuzz/property.js'

const at = new Date('2026-01-31T12:01:02.345Z')

type Lead = NonNullable<PayloadSources['lead']>
const lead: Lead = {
  id: 7,
  primary_id: null,
  campaign_id: 3,
  phone_number: '+15551230001',
  variables: { zeta: 1, customer_name: 'Ada', email: '' },
  status: 'completed'
}

function body (
  given: Partial<CallCompleted> = {}, set: Partial<AssistantSettings> = {}, of: Lead | undefined = lead
): string {
  return buildBody({
    call: call('c-1', given),
    at,
    assistant: { assistant_id: 1, settings: settings(set) },
    lead: of,
    campaignName: 'Spring'
  })
}

const read = (text: string) => JSON.parse(text)

t.test('the example of the API document is the payload of its call', async (t) => {
  const post_call_schema = [{ name: 'renewed', type: 'bool' as const, description: 'Whether the customer renewed' }]
  const assistant = { assistant_id: 1, settings: settings({ assistant_name: 'Renewals', post_call_schema }) }
  const { id, phone_number, variables, status, campaign } = read(JSON.stringify(webhookPayload)).data.lead
  const text = buildBody({
    call: { call_id: callId, ...completedCall },
    at: new Date(webhookPayload.timestamp),
    assistant,
    lead: { id, primary_id: null, phone_number, variables, status, campaign_id: campaign.id },
    campaignName: campaign.name
  })
  t.strictSame(read(text), webhookPayload)
})

t.test('each flag adds its own field and nothing else, null when the engine has none', async (t) => {
  const fields = Object.keys(read(body()).data)
  for (const [flag, field] of [['include_recording_in_webhook', 'recording_url'], ['post_call_evaluation', 'evaluation']] as const) {
    const text = body({}, { [flag]: false })
    t.same(Object.keys(read(text).data), fields.filter((name) => name !== field))
    t.same(webhookProblems(text), [])
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
  const text = anyText()
  const variables = fc.dictionary(text, fc.jsonValue({ stringUnit: character }))
  fc.assert(fc.property(variables, text, (variables, said) => {
    const input_variables: JsonObject = JSON.parse(JSON.stringify(variables))
    const text = body({ input_variables, transcript: [{ role: 'customer', text: said, at: 0 }] })
    const { data } = read(text)
    const headers = signedHeaders({ id: 'c-1', attempt: 1, at }, '0.0.0', Buffer.from(text), [secret])
    return JSON.stringify(data.input_variables) === JSON.stringify(input_variables) &&
      data.transcript_turns[0].text === said && isSigned(secret, headers, Buffer.from(text), at.getTime() / 1000)
  }))
})

t.test('a body of 256 KiB goes whole, one byte more goes without the turns', async (t) => {
  const filler = (bytes: number) => ({ transcript: [{ role: 'tool' as const, text: 'x'.repeat(bytes), at: 0 }] })
  const spare = longestBodyBytes - Buffer.byteLength(body(filler(0)))
  const largest = body(filler(spare / 2))
  t.equal(Buffer.byteLength(largest), longestBodyBytes - spare % 2)
  t.notOk(read(largest).data.truncated)
  const cut = read(body(filler(spare / 2 + 1))).data
  t.equal(cut.truncated, true)
  t.notOk('transcript_turns' in cut)
})

t.test('fields go in the documented order, each only when the rest is still too large', async (t) => {
  const text = 'x'.repeat(longestBodyBytes)
  const order = ['transcript_turns', 'transcript', 'input_variables', 'evaluation', 'extracted_variables', 'lead']
  const tooLarge: { [field: string]: () => string } = {
    transcript: () => body({ transcript: [{ role: 'tool', text, at: 0 }] }),
    input_variables: () => body({ input_variables: { text } }),
    evaluation: () => body({ evaluation: { text } }),
    extracted_variables: () => body({ extracted_variables: { summary: text } }),
    lead: () => body({}, {}, { ...lead, variables: { ...lead.variables, text } })
  }
  const whole = Object.keys(read(body()).data)
  for (const [field, build] of Object.entries(tooLarge)) {
    const cut = build()
    const gone = order.slice(0, order.indexOf(field) + 1)
    t.same(Object.keys(read(cut).data), [...whole.filter((name) => !gone.includes(name)), 'truncated'], field)
    t.same(webhookProblems(cut), [])
  }
  const least = { call_id: 'c-1', status: 'completed', truncated: true }
  t.same(read(body({ from: text })).data, least, 'a call that does not fit at all is named all the same')
})
