// What reporting a completed call leads to.
import t from 'tap'
import { callDecider, type CallFacts, erasingDecider, validateReport } from '../../../src/features/calls/model.js'
import {
  type CallCompleted, type CallEvent, callIdOf, type CompleteCallBody, isCallId
} from '../../../src/features/calls/events.js'
import { call } from '../../support/events/call-events.js'
import { invalid, scenarios, type Refusal } from '../../support/commands/given.js'

const given = scenarios(callDecider)
const { call_id: callId, ...body } = call('c-1', { lead_id: 3 })
const completed = (changes: Partial<CallCompleted> = {}) =>
  ({ type: 'CallCompleted' as const, data: call('c-1', { lead_id: 3, ...changes }) })

const complete = (
  changes: Partial<CompleteCallBody> = {}, { refused, facts = {} }: { refused?: Refusal['errors'], facts?: CallFacts } = {}
) =>
  () => validateReport(callId, { body: { ...body, ...changes }, ...(refused && { refused }) }, facts, new Date('2026-01-31T12:02:00Z'))

t.test('a call is recorded as it was reported, without fields that nobody knows, under the id of the path', async (t) => {
  given([]).when(complete()).then(t, [completed()])
  given([]).when(complete({ note: 'x', call_id: 'c-2' } as Partial<CompleteCallBody>)).then(t, [completed()])
  given([]).when(complete({ transcript: body.transcript.map((turn) => ({ ...turn, mood: 'x' })) }))
    .then(t, [completed()])
})

t.test('the same report again changes nothing, whatever the order of its keys', async (t) => {
  given([completed()]).when(complete()).then(t, [])
  const reversed = Object.fromEntries(Object.entries(body).reverse())
  given([completed()]).when(complete(reversed)).then(t, [])
  const unknown = { engine_build: '7', transcript: body.transcript.map((turn) => ({ ...turn, confidence: 0.9 })) }
  given([completed(unknown)]).when(complete(unknown)).then(t, [])
  given([completed(unknown)]).when(complete({ transcript: [] })).then(t, { code: 'call-differs' })
})

t.test('another report for the same call is refused', async (t) => {
  for (const change of [{ duration: 61 }, { lead_id: null }, { lead_status: 'completed' as const }, { evaluation: null }]) {
    given([completed()]).when(complete(change)).then(t, { code: 'call-differs' })
  }
})

t.test('a call does not end before it began', async (t) => {
  const errors = { ended_at: ['must not be before started_at'] }
  const began = { started_at: '2026-01-31T12:00:00+01:00' }
  given([]).when(complete({ ...began, ended_at: '2026-01-31T11:59:59+01:00' })).then(t, invalid(errors))
  given([]).when(complete({ ...began, ended_at: '2026-01-31T11:30:00+02:00' })).then(t, invalid(errors))
  const atOnce = { ...began, ended_at: '2026-01-31T11:00:00Z' }
  given([]).when(complete(atOnce)).then(t, [completed(atOnce)])
})

t.test('a call has not ended yet if its end is far ahead of the clock', async (t) => {
  given([]).when(complete({ ended_at: '2026-01-31T13:17:00+01:00' })).then(t, [completed({ ended_at: '2026-01-31T13:17:00+01:00' })])
  given([]).when(complete({ ended_at: '2026-01-31T12:17:00.001Z' }))
    .then(t, invalid({ ended_at: ['must not be more than 15 minutes in the future'] }))
})

t.test('a call is erased once, and keeps what is not personal', async (t) => {
  const now = '2026-02-01T12:00:00.000Z'
  const { data: report } = completed()
  const { call_id, assistant_id, lead_id, status, direction, started_at, ended_at, duration } = report
  const left = { call_id, assistant_id, lead_id, status, direction, started_at, ended_at, duration }
  const erased: CallEvent = { type: 'CallErased', data: { ...left, erased_at: now } }
  const erase = { report, now }
  const erasing = scenarios(erasingDecider)
  erasing([completed()]).when(erase).then(t, [erased])
  erasing([]).when(erase).then(t, [erased])
  erasing([erased]).when(erase).then(t, [])
  given([erased]).when(complete()).then(t, [])
  given([completed(), erased]).when(complete({ transcript: [] })).then(t, []) // what was said is not known any more
  given([completed(), erased]).when(complete({ duration: 61 })).then(t, { code: 'call-differs' })
})

t.test('the assistant must exist, and the lead must be its owner’s', async (t) => {
  given([]).when(complete({}, { facts: { assistantExists: false } }))
    .then(t, invalid({ assistant_id: ['must be an existing assistant'] }))
  given([]).when(complete({}, { facts: { assistantExists: true, leadBelongs: false } }))
    .then(t, invalid({ lead_id: ['must be a lead of the user who owns the assistant'] }))
  given([]).when(complete({ lead_id: null })).then(t, [completed({ lead_id: null })])
})

t.test('a refusal names what the schema and what the rules refuse together', async (t) => {
  const refused = { duration: ['must be a number'] }
  given([]).when(complete({}, { refused, facts: { assistantExists: true, leadBelongs: false } }))
    .then(t, invalid({ ...refused, lead_id: ['must be a lead of the user who owns the assistant'] }))
  const ofFields = { assistant_id: ['must be an integer'], lead_id: ['must be an integer or null'] }
  given([]).when(complete({}, { refused: ofFields })).then(t, invalid(ofFields))
})

t.test('a call id is 1 to 128 characters that are safe in a path and in a stream name', async (t) => {
  for (const id of ['a', 'A-b_c.d~9', 'x'.repeat(128)]) t.ok(isCallId(id) && callIdOf(`call-${id}`) === id, id)
  for (const id of ['', 'x'.repeat(129), 'a b', 'a/b', 'ä', 'a\n', 'a:b', '$x']) {
    t.notOk(isCallId(id) || callIdOf(`call-${id}`), JSON.stringify(id))
  }
  t.equal(callIdOf('lead-1-2'), undefined)
})
