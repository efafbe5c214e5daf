import fc from 'fast-check'
import t from 'tap'
import type { AssistantSettings } from '../../src/domain/assistant/settings.js'
import type { CallCompleted } from '../../src/domain/call/events.js'
import { buildBody, longestBodyBytes, type PayloadLead } from '../../workers/payload.js'
import { call, settings } from '../support/call-events.js'

const at = new Date('2026-01-31T12:01:02.345Z')
const lead: PayloadLead = { id: 7, user_id: '1', campaign_id: 3, phone_number: '+15551230001', variables: { zeta: 1, customer_name: 'Ada', email: '' }, status: 'completed' }

function body (given: Partial<CallCompleted> = {}, set: Partial<AssistantSettings> = {}, of: PayloadLead | undefined = lead): string {
  return buildBody({ call: call('c-1', given), at, assistant: { assistant_id: 1, user_id: '1', settings: settings(set) }, lead: of, campaignName: 'Spring' })
}
const read = (text: string) => JSON.parse(text)

t.test('the payload has exactly these fields', async (t) => {
  t.same(read(body()), {
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
      lead: { id: 7, phone_number: '+15551230001', variables: { zeta: 1, customer_name: 'Ada', email: '' }, status: 'completed', campaign: { id: 3, name: 'Spring' } },
      transcript: 'assistant: Hello\ncustomer: Grüezi 👋',
      transcript_turns: [{ role: 'assistant', text: 'Hello', at: 0 }, { role: 'customer', text: 'Grüezi 👋', at: 1.5 }],
      input_variables: { name: 'Ada' },
      extracted_variables: { status: true, summary: null },
      evaluation: { score: 0.5 },
      recording_url: 'https://recordings.example.com/1.mp3'
    }
  })
})

t.test('a call without a lead says null', async (t) => {
  t.equal(read(buildBody({ call: call('c'), at, assistant: { assistant_id: 1, user_id: '1', settings: settings() }, lead: undefined, campaignName: undefined })).data.lead, null)
})

t.test('recording and evaluation are there only with their flags', async (t) => {
  t.notOk('recording_url' in read(body({}, { include_recording_in_webhook: false })).data)
  t.notOk('evaluation' in read(body({}, { post_call_evaluation: false })).data)
  t.equal(read(body({ recording_url: null })).data.recording_url, null)
  t.equal(read(body({ evaluation: null })).data.evaluation, null)
})

t.test('extracted variables are those of the schema, missing ones null, others left out', async (t) => {
  const schema = ['mood', '__proto__', 'toString'].map((name) => ({ name, type: 'string' as const, description: 'x' }))
  const text = body({ extracted_variables: { mood: 'good', other: 1 } }, { post_call_schema: schema })
  t.match(text, '"extracted_variables":{"mood":"good","__proto__":null,"toString":null}')
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
  t.equal(cut.transcript.length, 'tool: '.length + Math.floor(spare / 2) + 1)
})

t.test('a transcript that is too long alone goes too, the rest stays', async (t) => {
  const cut = read(body({ transcript: [{ role: 'customer', text: 'é'.repeat(longestBodyBytes / 2), at: 0 }] })).data
  t.notOk('transcript' in cut)
  t.same(cut.input_variables, { name: 'Ada' })
  t.equal(cut.lead.id, 7)
  t.equal(cut.truncated, true)
})

t.test('no call makes a body over 256 KiB, and the call id is always in it', async () => {
  const large = fc.constantFrom(0, 1_000, 200_000, 300_000)
  const text = (size: number) => '👋'.repeat(size / 4)
  fc.assert(fc.property(large, large, large, large, large, (turns, input, extracted, from, variables) => {
    const result = body(
      { transcript: [{ role: 'tool', text: text(turns), at: 0 }], input_variables: { a: text(input) }, extracted_variables: { summary: text(extracted) }, from: text(from) + '1' },
      {}, { ...lead, variables: { customer_name: text(variables), email: '' } })
    return Buffer.byteLength(result) <= longestBodyBytes && read(result).data.call_id === 'c-1'
  }), { numRuns: 60 })
})
