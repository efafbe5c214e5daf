// The fields of calls at their limits, through the validators that the app uses.
import t from 'tap'
import { callStatuses, CompleteCallBody } from '../../../src/features/calls/events.js'
import { leadStatuses } from '../../../src/features/leads/events.js'
import { refusedBy } from '../../../src/http/bodies.js'
import { call } from '../../support/events/call-events.js'

const { call_id: _, ...body } = call('c-1')
const ofCall = refusedBy(CompleteCallBody)

t.test('a call report needs every field but lead_status', async (t) => {
  t.strictSame(ofCall({}), Object.fromEntries(Object.keys(body).map((field) => [field, ['is required']])))
  t.strictSame(ofCall(body), {})
})

t.test('a call report takes its limits and refuses what is beyond', async (t) => {
  const good = {
    lead_id: [null, 1],
    lead_status: leadStatuses,
    status: callStatuses,
    duration: [0, 0.5],
    recording_url: [null, ''],
    transcript: [[], [{ role: 'tool', text: '', at: 0 }]],
    evaluation: [null, {}],
    ended_at: ['2026-01-31T12:01:00+15:59']
  }
  for (const [field, values] of Object.entries(good)) {
    for (const value of values) {
      t.strictSame(ofCall({ ...body, [field]: value }), {}, `${field} ${JSON.stringify(value)}`)
    }
  }
  const noInstant = 'must be a date and time with an offset, such as 2026-01-31T12:00:00Z, in the years 1000 to 9998'
  const bad: [field: string, value: unknown, message: string][] = [
    ['lead_id', 0, 'must be at least 1'],
    ['lead_status', null, `must be one of: ${leadStatuses.join(', ')}`],
    ['status', 'done', `must be one of: ${callStatuses.join(', ')}`],
    ['from', '', 'must not be empty'],
    ['duration', -1, 'must be at least 0'],
    ['evaluation', [], 'must be an object or null'],
    ['started_at', '2026-01-31 12:00:00Z', noInstant],
    ['ended_at', '9999-12-31T12:00:00Z', noInstant]
  ]
  for (const [field, value, message] of bad) {
    t.strictSame(ofCall({ ...body, [field]: value }), { [field]: [message] }, `${field} ${JSON.stringify(value)}`)
  }
  t.strictSame(ofCall({ ...body, transcript: [{ role: 'bot', text: 5, at: -1 }] }), {
    'transcript.0.role': ['must be one of: assistant, customer, tool'],
    'transcript.0.text': ['must be a string'],
    'transcript.0.at': ['must be at least 0']
  })
})
