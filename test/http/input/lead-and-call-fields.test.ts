// The fields of leads and calls at their limits, through the validators that the app uses.
import t from 'tap'
import { callStatuses, CompleteCallBody } from '../../../src/features/calls/events.js'
import { decode } from '../../../src/domain/events.js'
import { CreateLeadBody } from '../../../src/features/leads/decide.js'
import { leadStatuses } from '../../../src/features/leads/events.js'
import { call } from '../../support/events/call-events.js'
import type { TSchema } from 'typebox'
import type { FieldErrors } from '../../../src/domain/rejection.js'
import { fieldErrors } from '../../../src/http/field-errors.js'
import { validatorCompiler } from '../../../src/http/bodies.js'

// What the app's own validators say of a body.
/** Answers, for a body, every refused field with every reason; nothing for a body that the schema takes. */
function refusals (schema: TSchema): (body: unknown) => FieldErrors {
  const validate = validatorCompiler({ schema, method: 'POST', url: '/', httpPart: 'body' })
  return (body) => {
    const outcome: unknown = validate(body)
    if (outcome === true) return {}
    return fieldErrors(Reflect.get(validate, 'errors') ?? [])
  }
}

const ofLead = refusals(CreateLeadBody)
const ofCall = refusals(CompleteCallBody)
const lead = { phone_number: '+15551230001', campaign_id: 1 }
const { call_id: callId, ...report } = call('c-1')
const notANumber = ['must be a phone number in E.164 format, such as +15551230001']

t.test('a lead needs a phone number and a campaign, and nothing else', async (t) => {
  t.strictSame(ofLead({}), { phone_number: ['is required'], campaign_id: ['is required'] })
  t.strictSame(ofLead(lead), {})
})

t.test('a phone number is E.164: a plus sign and 2 to 15 digits, the first not zero', async (t) => {
  for (const phone_number of ['+12', `+1${'2'.repeat(14)}`]) t.strictSame(ofLead({ ...lead, phone_number }), {})
  for (const phone_number of ['', '+', '+1', '+0123', '15551230001', `+1${'2'.repeat(
    15
  )}`, '+1 555', '+1555123000١', '+12\n', ' +12']) {
    t.strictSame(ofLead({ ...lead, phone_number }), { phone_number: notANumber }, JSON.stringify(phone_number))
  }
  for (const phone_number of [null, 15551230001]) {
    t.strictSame(ofLead({ ...lead, phone_number }), { phone_number: ['must be a string'] })
  }
})

t.test('a campaign is a positive integer that stays exact', async (t) => {
  for (const campaign_id of [1, Number.MAX_SAFE_INTEGER]) t.strictSame(ofLead({ ...lead, campaign_id }), {})
  t.strictSame(ofLead({ ...lead, campaign_id: 0 }), { campaign_id: ['must be at least 1'] })
  for (const campaign_id of ['1', 1.5, null, true]) {
    t.strictSame(ofLead({ ...lead, campaign_id }), { campaign_id: ['must be an integer'] })
  }
})

t.test('variables hold anything, but customer_name and email are strings', async (t) => {
  t.strictSame(ofLead({ ...lead, variables: { customer_name: '', email: '', other: [{ a: null }] } }), {})
  t.strictSame(ofLead({ ...lead, variables: { customer_name: null, email: 5 } }), {
    'variables.customer_name': ['must be a string'], 'variables.email': ['must be a string']
  })
  for (const variables of [null, [], 'x']) {
    t.strictSame(ofLead({ ...lead, variables }), { variables: ['must be an object'] })
  }
})

t.test('allow_dupplicate is a boolean', async (t) => {
  for (const allow_dupplicate of [true, false]) t.strictSame(ofLead({ ...lead, allow_dupplicate }), {})
  for (const allow_dupplicate of ['true', 1, null]) {
    t.strictSame(ofLead({ ...lead, allow_dupplicate }), { allow_dupplicate: ['must be true or false'] })
  }
})

t.test('a lead has at most ten secondary contacts, each with a phone number', async (t) => {
  const contacts = (count: number) =>
    Array.from({ length: count }, (_, index) => ({ phone_number: `+1555123010${index}` }))
  t.strictSame(ofLead({ ...lead, secondary_contacts: contacts(10) }), {})
  t.match(ofLead({ ...lead, secondary_contacts: contacts(10).concat({ phone_number: '+15' }) }), {
    secondary_contacts: ['must have at most 10 items']
  })
  t.strictSame(ofLead({ ...lead, secondary_contacts: [{}, { phone_number: 'x', variables: { email: 1 } }, null] }), {
    'secondary_contacts.0.phone_number': ['is required'],
    'secondary_contacts.1.phone_number': notANumber,
    'secondary_contacts.1.variables.email': ['must be a string'],
    'secondary_contacts.2': ['must be an object']
  })
  t.strictSame(ofLead({ ...lead, secondary_contacts: null }), { secondary_contacts: ['must be an array'] })
})

t.test('a call report needs every field but lead_status', async (t) => {
  t.strictSame(ofCall({}), Object.fromEntries(Object.keys(report).map((field) => [field, ['is required']])))
  t.strictSame(ofCall(report), {})
})

t.test('a call report takes its limits and refuses what is beyond', async (t) => {
  const good = {
    lead_id: [null, 1],
    lead_status: leadStatuses,
    status: callStatuses,
    direction: ['inbound', 'outbound'],
    duration: [0, 0.5],
    recording_url: [null, ''],
    transcript: [[], [{ role: 'tool', text: '', at: 0 }]],
    evaluation: [null, {}],
    ended_at: ['2026-01-31T12:01:00+15:59']
  }
  for (const [field, values] of Object.entries(good)) {
    for (const value of values) {
      t.strictSame(ofCall({ ...report, [field]: value }), {}, `${field} ${JSON.stringify(value)}`)
    }
  }
  const noInstant = 'must be a date and time with an offset, such as 2026-01-31T12:00:00Z, in the years 1000 to 9998'
  const bad: [field: string, value: unknown, message: string][] = [
    ['assistant_id', null, 'must be an integer'],
    ['lead_id', 0, 'must be at least 1'],
    ['lead_status', null, `must be one of: ${leadStatuses.join(', ')}`],
    ['status', 'done', `must be one of: ${callStatuses.join(', ')}`],
    ['from', '', 'must not be empty'],
    ['duration', -1, 'must be at least 0'],
    ['recording_url', 5, 'must be a string or null'],
    ['evaluation', [], 'must be an object or null'],
    ['input_variables', null, 'must be an object'],
    ['started_at', '2026-01-31 12:00:00Z', noInstant],
    ['ended_at', '9999-12-31T12:00:00Z', noInstant],
    ['ended_at', '2026-01-31T12:00:00+23:00', noInstant]
  ]
  for (const [field, value, message] of bad) {
    t.strictSame(ofCall({ ...report, [field]: value }), { [field]: [message] }, `${field} ${JSON.stringify(value)}`)
  }
  t.strictSame(ofCall({ ...report, transcript: [{ role: 'bot', text: 5, at: -1 }] }), {
    'transcript.0.role': ['must be one of: assistant, customer, tool'], 'transcript.0.text': ['must be a string'], 'transcript.0.at': ['must be at least 0']
  })
})

t.test('a report that is taken here can be read from the log', async (t) => {
  for (const ended_at of ['2026-01-31T12:01:00Z', '2026-01-31T12:01:00.5-03:30']) {
    t.strictSame(ofCall({ ...report, ended_at }), {})
    t.ok(decode({
      type: 'CallCompleted',
      stream: `call-${callId}`,
      revision: 0n,
      metadata: {},
      data: { call_id: callId, ...report, ended_at }
    }))
  }
})
