// Whatever a body holds: it is refused with a reason and changes nothing, or it says what is read back.
import { isDeepStrictEqual } from 'node:util'
import t from 'tap'
import { runs } from '@ringledger/embedded-postgres/testing'
import { CreateLeadBody } from '../../../src/features/leads/decide.js'
import { UpdateAssistantBody } from '../../../src/features/assistants/validate.js'
import { newAssistant, newLead } from '../../support/bodies/bodies.js'
import { fc } from '../../support/fuzz/property.js'
import { testService } from '../../support/service.js'

const { call, url, token, parts: { streams } } = await testService(t)
const authorization = `Bearer ${await token('1')}`
const { id } = (await call('POST', '/user/assistant', newAssistant())).body.data
let numbers = 0

const routes = {
  lead: {
    method: 'POST', path: '/user/lead', schema: CreateLeadBody, valid: () => newLead({ phone_number: `+1556${String(++numbers).padStart(7, '0')}` })
  },
  assistant: { method: 'PUT', path: `/user/assistant/${id}`, schema: UpdateAssistantBody, valid: () => newAssistant() }
}

/** Edges of types, odd letters and names, deep nesting. */
const odd = fc.oneof(
  fc.constantFrom<unknown>(null, true, 0, -0, 1.5, -1, 1e300, 2 ** 53, '', ' ', 'a\0b', '\ud800', '\ufeff', [], {}, [null], [[]], [{}]),
  fc.constantFrom('x', 'ß', '💥', '\u2028').map((unit) => unit.repeat(501)),
  fc.string({ unit: 'binary', maxLength: 40 }), fc.jsonValue({ maxDepth: 3 }),
  fc.constantFrom(31, 33, 500).map((levels) => JSON.parse('['.repeat(levels) + ']'.repeat(levels)) as unknown)
)
const names = fc.constantFrom('constructor', 'toJSON', 'a.b', 'ſ', 'prototype', '')

/** Up to three fields are replaced; now and then the text is cut off, or is no JSON at all. */
function bodiesOf ({ schema, valid }: typeof routes[keyof typeof routes]): fc.Arbitrary<string> {
  const field = fc.oneof({ weight: 6, arbitrary: fc.constantFrom(...Object.keys(schema.properties)) }, names)
  const changed = fc.dictionary(field, odd, { maxKeys: 3 }).map((fields) => JSON.stringify({ ...valid(), ...fields }))
  const cut = fc.tuple(changed, fc.nat(400)).map(([text, at]) => text.slice(0, at))
  return fc.oneof({ weight: 6, arbitrary: changed }, cut, fc.string({ unit: 'binary' }), odd.map((value) => JSON.stringify(value)))
}

async function send (method: string, path: string, text: string) {
  const headers = { authorization, 'content-type': 'application/json' }
  const answer = await fetch(`${url}${path}`, { method, headers, body: text, signal: AbortSignal.timeout(15_000) })
  const body = await answer.json() as { message?: unknown, errors?: object, data: { id: number } }
  return { status: answer.status, headers: answer.headers, body }
}

for (const [name, route] of Object.entries(routes)) {
  t.test(`any body of a change of the ${name}`, async (t) => {
    let accepted = 0
    await fc.assert(fc.asyncProperty(bodiesOf(route), async (text) => {
      const before = await streams.head()
      const { status, headers, body } = await send(route.method, route.path, text)
      if (typeof body.message !== 'string') return false
      if (status !== 200) {
        const isTold = status === 422 ? Object.values(body.errors ?? {}).flat().length > 0 : Object.keys(body).join() === 'message'
        return isTold && [400, 413, 422].includes(status) && await streams.head() === before
      }
      accepted += 1
      const position = { 'x-read-position': headers.get('x-read-position') ?? '' }
      const path = `/user/${name}/${body.data.id}`
      const { data } = (await call('GET', path, undefined, { headers: position })).body
      return Object.entries<unknown>(body.data).every(([key, value]) => isDeepStrictEqual(data[key], value))
    }), { numRuns: runs(60) })
    t.ok(accepted > 5, `${accepted} were accepted`)
  })
}
