// Bodies as HTTP and JSON allow them, at one endpoint: what holds at every one is in the table of refusals. How many
// values one may hold, up to the last one: one that is made to cost is answered in few words, and nobody waits for it.
// Whatever a body holds: it is refused with a reason and changes nothing, or it says what is read back.
import { isDeepStrictEqual } from 'node:util'
import t, { type Test } from 'tap'
import { runs } from '@ringledger/embedded-postgres/testing'
import { CreateLeadBody } from '../../../src/features/leads/decide.js'
import { UpdateAssistantBody } from '../../../src/features/assistants/validate.js'
import { anyText, fc } from '../../support/fuzz/property.js'
import type { Answer } from '../../support/running-service.js'
import { newAssistant, newLead, callReport } from '../../support/bodies/bodies.js'
import { testService } from '../../support/service.js'

/** Edges of types, odd letters and names, deep nesting. */
const odd = fc.oneof(
  fc.constantFrom<unknown>(null, true, 0, -0, 1.5, -1, 1e300, 2 ** 53, '', ' ', 'a\0b', '\ud800', '\ufeff', [], {}, [null], [[]], [{}]),
  fc.constantFrom('x', 'ß', '💥', '\u2028').map((unit) => unit.repeat(501)),
  anyText({ maxLength: 40 }), fc.jsonValue({ maxDepth: 3 }),
  fc.constantFrom(31, 33, 500).map((levels) => JSON.parse('['.repeat(levels) + ']'.repeat(levels)) as unknown)
)
const names = fc.constantFrom('constructor', 'toJSON', 'a.b', 'ſ', 'prototype', '')

const service = await testService(t)
const { call } = service
const token = await service.token('1')
const path = '/user/assistant'
const { id: changed } = (await call('POST', '/user/assistant', newAssistant())).body.data

/** A piece of JSON as it stands. */
class Raw {
  constructor (readonly text: string) {}
}

/** Like JSON.stringify; a `Raw` inside stays as it is. */
function jsonText (value: unknown): string {
  if (value instanceof Raw) return value.text
  if (Array.isArray(value)) return `[${value.map(jsonText).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  return `{${Object.entries(value).map(([key, inner]) => `${JSON.stringify(key)}:${jsonText(inner)}`).join(',')}}`
}

/** An array in an array in an array …: `levels` brackets. */
const nested = (levels: number): Raw => new Raw('['.repeat(levels) + ']'.repeat(levels))

async function send (
  body: string | Buffer | ReadableStream | undefined, headers: Record<string, string> = { 'content-type': 'application/json' }
): Promise<Answer> {
  const answer = await fetch(`${service.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, ...headers },
    ...(body !== undefined && { body }),
    duplex: 'half'
  })
  return { status: answer.status, headers: answer.headers, body: await answer.json() }
}

async function stored ({ headers, body: { data } }: Answer): Promise<Record<string, unknown>> {
  const position = { 'x-read-position': headers.get('x-read-position') ?? '' }
  return (await service.call('GET', `${path}/${data.id}`, undefined, { headers: position })).body.data.settings.variables
}

/** A valid body with these fields besides, as text. */
const text = (fields: object = {}) => jsonText({ ...newAssistant(), ...fields })
const variables = (value: unknown) => text({ variables: { n: value } })

function isRefused (t: Test, { status, body }: Answer, expected: number, fields?: string[], why = ''): void {
  t.equal(status, expected, why)
  t.strictSame(Object.keys(body).sort(), fields ? ['errors', 'message'] : ['message'], why)
  if (fields) t.strictSame(Object.keys(body.errors).sort(), fields.sort(), why)
}

const limit = 512 * 1024

t.test('what is no JSON is a 400, what is not declared as JSON in UTF-8 a 415; neither writes anything', async (t) => {
  const before = await service.parts.streams.head()
  const [json, keys] = [{ 'content-type': 'application/json' }, ['{"__proto__":{"a":1}}', '{"\\u005f_proto__":1}', '{"constructor":{"prototype":{}}}']]
  const types = ['text/plain', 'application/json-patch+json', 'application/json, text/plain', 'application/json; charset=iso-8859-1']
  for (const [status, body, headers] of [
    ...['', '{"a":1,}', '{} {}', '\0'].map((body) => [400, body, json] as const),
    [400, Buffer.from(text({ variables: { name: 'é' } }), 'latin1'), json],
    ...keys.map((key) => [400, variables(new Raw(`[${key}]`)), json] as const),
    ...types.map((type) => [415, text(), { 'content-type': type }] as const), [415, Buffer.from(text()), {}],
    ...['gzip', 'identity, gzip', ''].map((encoding) => [415, text(), { ...json, 'content-encoding': encoding }] as const)
  ] as const) {
    const answer = await send(body, headers)
    isRefused(t, answer, status, undefined, `${String(body).slice(0, 40)} ${JSON.stringify(headers)}`)
    t.equal(answer.headers.get('accept-encoding'), 'content-encoding' in headers ? 'identity' : null)
  }
  t.equal(await service.parts.streams.head(), before)
  t.equal((await send(text(), { ...json, 'content-encoding': 'Identity' })).status, 201)
})

t.test('the usual ways to say JSON are taken', async (t) => {
  t.equal((await send(`\ufeff${text()}`, { 'content-type': 'Application/JSON;charset="utf-8"' })).status, 201)
})

t.test('the last of two equal keys counts, also in the event', async (t) => {
  const answer = await send(text({ variables: new Raw('{"a":1,"b":{"x":1},"a":2,"b":{}}') }))
  t.equal(answer.status, 201)
  const { a, b } = await stored(answer)
  t.strictSame([a, b], [2, {}])
})

t.test('NUL and lone surrogates are refused on their field, wherever they are', async (t) => {
  for (const bad of ['a\\u0000b', '\\ud800']) {
    const value = new Raw(`"${bad}"`)
    const shown: string = JSON.parse(`"${bad}"`).toWellFormed().replaceAll('\0', '')
    for (const [body, ...fields] of [
      [text({ unknown: value }), 'unknown'], [text({ 'a\nb.constructor': value }), 'a\nb.constructor'],
      [variables([{ deep: value }]), 'variables.n.0.deep'], [variables([new Raw(`{"${bad}":1}`)]), `variables.n.0.${shown}`],
      [text({ assistant_name: 5, variables: { n: value } }), 'assistant_name', 'variables.n']
    ] as const) isRefused(t, await send(body), 422, [...fields], body.slice(-60))
  }
})

t.test('unknown fields are ignored at every depth and named, whatever and however many they are', async (t) => {
  const nested = { post_call_schema: [{ name: 'a', type: 'bool', description: 'b', größe: 1 }], variables: { free: 1 } }
  for (const [fields, named] of [
    [{ ...nested, nick: 1, 'a\r\nb': 1 }, /^post_call_schema\.0\.gr%C3%B6%C3%9Fe, nick, a%0D%0Ab$/],
    [{ ['ä'.repeat(100_000)]: 1 }, /^[^]{0,2048}$/]
  ] as const) {
    const { status, headers } = await send(text(fields))
    t.equal(status, 201)
    t.match(headers.get('x-ignored-fields'), named)
  }
  t.equal((await send(text())).headers.get('x-ignored-fields'), null)
})

t.test('a body may be nested 32 levels deep, and no deeper', async (t) => {
  const answer = await send(variables(nested(31)))
  t.equal(answer.status, 201)
  t.equal(JSON.stringify((await stored(answer)).n), nested(31).text)
  const { status, body } = await send(variables(nested(32)))
  t.equal(status, 422)
  t.strictSame(body.errors, { [`variables.n${'.0'.repeat(30)}`]: ['must not be nested more than 32 levels deep'] })
})

t.test('numbers that would lose digits are refused, all others come back', async (t) => {
  for (const number of ['1e300', '-9007199254740993']) isRefused(t, await send(variables(new Raw(number))), 422, ['variables.n'], number)
  const fine = ['9007199254740991', '-0', '1e-400', '1.0', '0.30000000000000004', '-1E-7']
  const answer = await send(variables(fine.map((number) => new Raw(number))))
  t.equal(answer.status, 201)
  t.equal(JSON.stringify((await stored(answer)).n), JSON.stringify(fine.map(Number)))
})

t.test('a body has 512 KiB, however it is sent', async (t) => {
  const padded = (length: number) => text().padEnd(length)
  t.equal((await send(padded(limit))).status, 201, 'exactly')
  const before = await service.parts.streams.head()
  isRefused(t, await send(padded(limit + 1)), 413, undefined, 'one byte more')
  const chunked = new Blob([padded(limit + 1)]).stream()
  isRefused(t, await send(chunked), 413, undefined, 'one byte more in chunks')
  t.equal(await service.parts.streams.head(), before, 'nothing was written')
})

const zerosOf = (count: number) => Array<number>(count).fill(0)

/** How many values a body has without the list that fills it up. */
const values = (value: unknown): number => typeof value === 'object' && value !== null
  ? Object.values(value).reduce((sum: number, part) => sum + values(part), 1)
  : 1

t.test('a body holds 5,000 values, the report of a call 50,000, and no more', async (t) => {
  const engine = { authorization: `Bearer ${await service.token('engine', 'engine')}` }
  for (const [at, bodyWith, most, status, headers] of [
    [path, (list: unknown) => newAssistant({ unknown: { list } }), 5_000, 201, {}],
    ['/engine/calls/full/completed', (list: unknown) => callReport(changed, { input_variables: { list } }), 50_000, 202, engine]
  ] as const) {
    const room = most - values(bodyWith([]))
    t.equal((await call('POST', at, bodyWith(zerosOf(room)), { headers })).status, status, at)
    const { body } = await call('POST', at, bodyWith(zerosOf(room + 1)), { headers })
    t.match(body.errors, { body: [`must hold at most ${most} values`] })
  }
  t.equal((await call('POST', '/user/webhook-secret/rotate', zerosOf(5_000))).status, 422, 'a body that nobody reads')
  const grows = { padding: 'x'.repeat(400_000), list: new Raw(`[${'9e15,'.repeat(45_000)}0]`) }
  const report = jsonText(callReport(changed, { input_variables: grows }))
  isRefused(t, await call('POST', '/engine/calls/grows/completed', report, { headers: engine }), 413, undefined, 'over 1 MiB once it is written again')
})

const many = (count: number, item: string) => `${`${item},`.repeat(count)}0`

for (const [title, fields] of [
  ['170,000 empty items of a schema', `"post_call_schema":[${many(170_000, '{}')}]`],
  ['4,000 bad values under a name of 250,000 letters', `"variables":{"${'k'.repeat(250_000)}":[${many(4_000, '"\\u0000"')}]}`],
  ['4,900 numbers that lose digits', `"variables":{"n":[${many(4_900, '1e99')}]}`],
  ['a time zone of 500,000 letters', `"timezone":"Europe/${'a/'.repeat(250_000)}"`]
] as const) {
  t.test(`${title} cost little, and are refused in few words`, async (t) => {
    const before = process.cpuUsage()
    const { status, body } = await call('POST', '/user/assistant', text().replace(/}$/, `,${fields}}`))
    const { user } = process.cpuUsage(before)
    t.equal(status, 422)
    t.ok(JSON.stringify(body).length < 200_000, 'in few words')
    t.ok(user < 2_500_000, `${user} µs of CPU hold up the others`)
  })
}

t.test('a refusal names the first 500 wrong fields, and says that there are more', async (t) => {
  const errorsOf = async (wrong: number) => (await call('POST', '/user/assistant', newAssistant({
    post_call_schema: zerosOf(wrong)
  }))).body.errors
  const errors = await errorsOf(2_000)
  t.equal(Object.keys(errors).length, 501)
  t.strictSame(errors.body, ['has more wrong fields than the 500 that are named here'])
  t.notOk((await errorsOf(499)).body)
})

let numbers = 0

const routes = {
  lead: {
    method: 'POST', path: '/user/lead', schema: CreateLeadBody, valid: () => newLead({ phone_number: `+1556${String(++numbers).padStart(7, '0')}` })
  },
  assistant: { method: 'PUT', path: `/user/assistant/${changed}`, schema: UpdateAssistantBody, valid: () => newAssistant() }
}

/** Up to three fields are replaced; now and then the text is cut off, or is no JSON at all. */
function bodiesOf ({ schema, valid }: typeof routes[keyof typeof routes]): fc.Arbitrary<string> {
  const field = fc.oneof({ weight: 6, arbitrary: fc.constantFrom(...Object.keys(schema.properties)) }, names)
  const others = fc.dictionary(field, odd, { maxKeys: 3 }).map((fields) => JSON.stringify({ ...valid(), ...fields }))
  const cut = fc.tuple(others, fc.nat(400)).map(([text, at]) => text.slice(0, at))
  return fc.oneof({ weight: 6, arbitrary: others }, cut, anyText(), odd.map((value) => JSON.stringify(value)))
}

for (const [name, route] of Object.entries(routes)) {
  t.test(`any body of a change of the ${name}`, async (t) => {
    let accepted = 0
    await fc.assert(fc.asyncProperty(bodiesOf(route), async (text) => {
      const before = await service.parts.streams.head()
      const { status, headers, body } = await call(route.method, route.path, text)
      if (typeof body.message !== 'string') return false
      if (status !== 200) {
        const isTold = status === 422 ? Object.values(body.errors).flat().length > 0 : Object.keys(body).join() === 'message'
        return isTold && [400, 413, 422].includes(status) && await service.parts.streams.head() === before
      }
      accepted += 1
      const position = { 'x-read-position': headers.get('x-read-position') ?? '' }
      const path = `/user/${name}/${body.data.id}`
      const { data } = (await call('GET', path, undefined, { headers: position })).body
      return Object.entries<unknown>(body.data).every(([key, value]) => isDeepStrictEqual(data[key], value))
    }), { numRuns: runs(20) })
    t.ok(accepted > 0, `${accepted} were accepted`)
  })
}
