// A body has at most 256 KiB: fields are left out in a documented order until it fits.
import t from 'tap'
import { longestBodyBytes } from '../../../workers/dispatch/payload.js'
import { webhookProblems } from '../../support/documents/webhook-schemas.js'
import { lead, body, read } from './payload-bodies.js'
import { fc } from '../../support/fuzz/property.js'

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

t.test('the limit counts bytes, not characters', async (t) => {
  const turns = (text: string) => read(body({ transcript: [{ role: 'tool', text, at: 0 }] })).data
  t.notOk(turns('x'.repeat(100_000)).truncated)
  t.equal(turns('é'.repeat(100_000)).truncated, true)
})

t.test('no call makes a body over 256 KiB, and the call id is always in it', async () => {
  const large = fc.constantFrom(0, 1_000, 200_000, 300_000)
  const text = (size: number) => '👋'.repeat(size / 4)
  fc.assert(fc.property(large, large, large, large, large, (turns, input, extracted, from, variables) => {
    const result = body(
      {
        transcript: [{ role: 'tool', text: text(turns), at: 0 }],
        input_variables: { a: text(input) },
        extracted_variables: { summary: text(extracted) },
        from: text(from) + '1'
      },
      {}, { ...lead, variables: { customer_name: text(variables), email: '' } })
    return Buffer.byteLength(result) <= longestBodyBytes && read(result).data.call_id === 'c-1' &&
      webhookProblems(result).length === 0
  }), { numRuns: 60 })
})
