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
import { noStream } from '../../../src/log/event-log.js'
import { callCompleted, proposed } from '../../support/events/call-events.js'
import { eventually } from '../../support/eventually.js'
import { newAssistant, newLead, callReport } from '../../support/bodies/bodies.js'
import { testService } from '../../support/service.js'
import { once } from 'node:events'
import { connect } from 'node:net'
import { gzipSync } from 'node:zlib'

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

/** A rule that refuses all bodies writes nothing. */
function refusing (title: string, rule: (t: Test) => Promise<void>): void {
  t.test(title, async (t) => {
    const before = await service.parts.streams.head()
    await rule(t)
    t.equal(await service.parts.streams.head(), before, 'nothing was written')
  })
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
const zeros = Array<number>(4_000).fill(0)

refusing('a body that is no JSON is a 400', async (t) => {
  for (const body of ['', ' ', '{', '{"a":1,}', '{} {}', "{'a':1}", '{"a":NaN}', '\0', '{"a":"\n"}']) {
    isRefused(t, await send(body), 400, undefined, JSON.stringify(body))
  }
  const latin1 = Buffer.from(text({ variables: { name: 'é' } }), 'latin1')
  isRefused(t, await send(latin1), 400, undefined, 'bytes that are no UTF-8')
  isRefused(t, await send(Buffer.from(text(), 'utf16le')), 400, undefined, 'UTF-16')
})

refusing('keys that reach for prototypes are a 400, however they are written', async (t) => {
  for (const key of ['{"__proto__":{"a":1}}', '{"\\u005f_proto__":1}', '{"constructor":{"prototype":{}}}']) {
    isRefused(t, await send(key), 400, undefined, key)
    isRefused(t, await send(variables(new Raw(`[${key}]`))), 400, undefined, `${key} further in`)
  }
  t.equal(Reflect.get({}, 'a'), undefined)
})

refusing('anything but application/json in UTF-8 is a 415', async (t) => {
  const types = [
    'text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', 'application/json-patch+json', 'text/json', 'nonsense', 'application/json, text/plain',
    'application/json; charset=iso-8859-1', 'application/json;charset="utf-16"'
  ]
  for (const type of types) {
    isRefused(t, await send(text(), { 'content-type': type }), 415, undefined, type)
  }
  isRefused(t, await send(Buffer.from(text()), {}), 415, undefined, 'no type')
})

t.test('the usual ways to say JSON are taken', async (t) => {
  for (const type of ['application/json', 'Application/JSON; charset=UTF-8', 'application/json;charset="utf-8"']) {
    t.equal((await send(text(), { 'content-type': type })).status, 201, type)
  }
  t.equal((await send(`\ufeff${text()}`)).status, 201, 'with a byte order mark')
})

t.test('the last of two equal keys counts, also in the event', async (t) => {
  const answer = await send(text({ variables: new Raw('{"a":1,"b":{"x":1},"a":2,"b":{}}') }))
  t.equal(answer.status, 201)
  const { a, b } = await stored(answer)
  t.strictSame([a, b], [2, {}])
})

refusing('NUL and lone surrogates are refused on their field, wherever they are', async (t) => {
  for (const bad of ['\\u0000', 'a\\u0000b', '\\ud800', '\\udc00\\ud800']) {
    const value = new Raw(`"${bad}"`)
    const key = new Raw(`{"${bad}":1}`)
    const shown: string = JSON.parse(`"${bad}"`).toWellFormed().replaceAll('\0', '')
    isRefused(t, await send(text({ unknown: value })), 422, ['unknown'], bad)
    isRefused(t, await send(variables([{ deep: value }])), 422, ['variables.n.0.deep'], bad)
    isRefused(t, await send(variables([key])), 422, [`variables.n.0.${shown}`], `${bad} in a name`)
    const atTop = await send(text().replace('{', `{"x${bad}":1,`))
    isRefused(t, atTop, 422, [`x${shown}`], `${bad} in a name at the top`)
    const both = text({ assistant_name: 5, variables: { n: value } })
    isRefused(t, await send(both), 422, ['assistant_name', 'variables.n'], 'with what the schema refuses')
  }
})

refusing('names with line breaks, dots and slashes are named in errors like any other', async (t) => {
  for (const name of ['a\nb', '\u2028', 'a.b', '~/', 'constructor', 'toString', '5']) {
    const answer = await send(text({ [name]: new Raw('"\\u0000"') }))
    isRefused(t, answer, 422, [name], encodeURIComponent(name))
  }
})

t.test('unknown fields are ignored at every depth and named, whatever and however many they are', async (t) => {
  const nested = { post_call_schema: [{ name: 'a', type: 'bool', description: 'b', größe: 1 }], variables: { free: 1 } }
  for (const [fields, named] of [
    [{ ...nested, nick: 1, 'a\r\nb': 1 }, /^post_call_schema\.0\.gr%C3%B6%C3%9Fe, nick, a%0D%0Ab$/],
    [{ ['ä'.repeat(100_000)]: 1 }, /^[^]{0,2048}$/], [Object.fromEntries(zeros.map((_, n) => [`field_${n}`, 1])), /^[^]{0,2048}$/]
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
  for (const levels of [32, 4_900]) {
    const headers = { 'content-type': 'application/json', 'idempotency-key': `deep ${levels}` }
    const { status, body } = await send(variables(nested(levels)), headers)
    t.equal(status, 422)
    t.strictSame(body.errors, { [`variables.n${'.0'.repeat(30)}`]: ['must not be nested more than 32 levels deep'] })
  }
})

t.test('numbers that would lose digits are refused, all others come back', async (t) => {
  for (const number of ['1e300', '-1e300', '1e400', '9007199254740992', '-9007199254740993']) {
    isRefused(t, await send(variables(new Raw(number))), 422, ['variables.n'], number)
  }
  const fine = [
    '9007199254740991', '-9007199254740991', '-0', '1e-400', '5e-324', '1e15', '1.0', '0.30000000000000004', '-1E-7'
  ]
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

const ofJson = (length: number) => ['Content-Type: application/json', `Content-Length: ${length}`]

refusing('a body with a wrong Content-Length changes nothing', async (t) => {
  const body = text()
  for (const [length, answer] of [
    [body.length - 1, /^HTTP\/1\.1 400 /], [body.length + 1, /^(HTTP\/1\.1 400 |$)/]
  ] as const) {
    const socket = connect(Number(new URL(service.url).port), '127.0.0.1')
    const head = [`POST ${path} HTTP/1.1`, 'Host: a', `Authorization: Bearer ${token}`, ...ofJson(length)]
    socket.end(`${head.join('\r\n')}\r\n\r\n${body}`)
    let said = ''
    socket.setEncoding('utf8').on('data', (text: string) => { said += text })
    await once(socket, 'close')
    t.match(said, answer, `${length} instead of ${body.length}`)
  }
})

t.test('the report of a call that grows over 1 MiB when it is written again is a 413', async (t) => {
  const before = await service.parts.streams.head()
  const grows = { padding: 'x'.repeat(400_000), list: new Raw(`[${'9e15,'.repeat(45_000)}0]`) }
  const headers = { authorization: `Bearer ${await service.token('engine', 'engine')}` }
  const engine = '/engine/calls/grows/completed'
  isRefused(t, await service.call('POST', engine, jsonText(callReport(1, { input_variables: grows })), { headers }), 413)
  t.equal(await service.parts.streams.head(), before, 'nothing was written')
})

t.test('a body that is encoded is a 415, whatever it holds; identity is no encoding', async (t) => {
  const json = { 'content-type': 'application/json' }
  const before = await service.parts.streams.head()
  for (const encoding of ['gzip', 'deflate', 'br', 'x-unknown', 'identity, gzip', '']) {
    const answer = await send(text(), { ...json, 'content-encoding': encoding })
    isRefused(t, answer, 415, undefined, encoding)
    t.match(answer.body.message, /Content-Encoding/)
    t.equal(answer.headers.get('accept-encoding'), 'identity')
  }
  const zipped = gzipSync(text())
  isRefused(t, await send(zipped, { ...json, 'content-encoding': 'gzip' }), 415)
  t.equal(await service.parts.streams.head(), before, 'nothing was written')
  const plain = await send(text(), { ...json, 'content-encoding': 'Identity' })
  t.equal(plain.status, 201)
})

const engine = { authorization: `Bearer ${await service.token('engine', 'engine')}` }

const zerosOf = (count: number) => Array<number>(count).fill(0)
const tooMany = (most: number) =>
  `must hold at most ${most} values, with every object and array and everything in them`

/** How many values a body has without the list that fills it up. */
const values = (value: unknown): number => typeof value === 'object' && value !== null
  ? Object.values(value).reduce((sum: number, part) => sum + values(part), 1)
  : 1

t.test('a body holds 5,000 values, of any kind and wherever they are, and no more', async (t) => {
  const full = (body: object, given: (list: number[]) => object, more = 0) =>
    ({ ...body, ...given(zerosOf(5_000 - values({ ...body, ...given([]) }) + more)) })
  const bodies: [path: string, body: object, given: (list: number[]) => object, status: number][] = [
    ['/user/assistant', newAssistant(), (list) => ({ variables: { list } }), 201],
    ['/user/lead', newLead(), (list) => ({ variables: { list } }), 200],
    ['/user/lead', newLead({ allow_dupplicate: true }), (unknown) => ({ unknown }), 200]
  ]
  for (const [path, body, given, status] of bodies) {
    t.equal((await call('POST', path, full(body, given))).status, status, path)
    const refused = await call('POST', path, full(body, given, 1))
    t.equal(refused.status, 422, path)
    t.strictSame(refused.body, { message: 'The given data was invalid.', errors: { body: [tooMany(5_000)] } })
  }
  for (const path of ['/user/assistant/1', '/user/assistant/999']) {
    t.equal((await call('PUT', path, { variables: { list: zerosOf(5_000) } })).status, 422, `PUT ${path}`)
  }
  t.equal((await call('POST', '/user/webhook-secret/rotate', zerosOf(5_000))).status, 422, 'a body that nobody reads')
})

t.test('the report of a call holds 50,000 values by HTTP, and any number as an event', async (t) => {
  const { id } = (await call('POST', '/user/assistant', newAssistant())).body.data
  const report = (count: number) => callReport(id, { input_variables: { list: zerosOf(count) } })
  const room = 50_000 - values(report(0))
  const send = (callId: string, count: number) =>
    call('POST', `/engine/calls/${callId}/completed`, report(count), { headers: engine })
  t.equal((await send('full', room)).status, 202)
  const { status, body } = await send('fuller', room + 1)
  t.equal(status, 422)
  t.strictSame(body.errors, { body: [tooMany(50_000)] })

  const event = callCompleted('by-event', { assistant_id: id, input_variables: { list: zerosOf(60_000) } })
  await service.parts.streams.append(event.stream, [proposed(event)], noStream)
  const read = await eventually(async () => {
    const found = await call('GET', '/user/call/by-event')
    return found.status === 200 && found
  })
  t.equal(read.body.data.input_variables.list.length, 60_000)
})

const assistant = (fields: string) => JSON.stringify(newAssistant()).replace(/}$/, `,${fields}}`)
const lead = (fields: string) => JSON.stringify(newLead({ phone_number: '+15551239990' })).replace(/}$/, `,${fields}}`)
const many = (count: number, item: string) => `${`${item},`.repeat(count)}0`
const named = (count: number, value: string, end = '') =>
  Array.from({ length: count }, (_, index) => `"${index.toString(36)}${end}":${value}`).join()
const property = '{"name":"n","type":"bool","description":"d"}'

/** By path: fields of a body that is refused. */
const hostile: Record<string, Array<[title: string, fields: string]>> = {
  '/user/assistant': [
    ['170,000 empty items of a schema', `"post_call_schema":[${many(170_000, '{}')}]`],
    ['a name 10,000 times in a schema', `"post_call_schema":[${many(10_000, property)}]`],
    ['50,000 variables', `"variables":{${named(50_000, '1')}}`],
    ['30,000 names that cannot be stored', `"variables":{${named(30_000, '0', '\\u0000')}}`],
    ['100,000 numbers that lose digits', `"variables":{"n":[${many(100_000, '1e99')}]}`],
    ['20,000 bad values under a name of 250,000 letters',
      `"variables":{"${'k'.repeat(250_000)}":[${many(20_000, '"\\u0000"')}]}`],
    ['a time zone of 500,000 letters', `"timezone":"Europe/${'a/'.repeat(250_000)}"`]
  ],
  '/user/lead': [
    ['100,000 secondary contacts', `"secondary_contacts":[${many(100_000, '{}')}]`],
    ['15,000 contacts with one number', `"secondary_contacts":[${many(15_000, '{"phone_number":"+15551239999"}')}]`],
    ['50,000 unknown fields', named(50_000, '1')]
  ]
}

for (const [path, bodies] of Object.entries(hostile)) {
  for (const [title, fields] of bodies) {
    t.test(title, async (t) => {
      const before = process.cpuUsage()
      const body = path === '/user/lead' ? lead(fields) : assistant(fields)
      const { status, body: answer } = await service.call('POST', path, body)
      const { user } = process.cpuUsage(before)
      t.equal(status, 422)
      t.ok(JSON.stringify(answer).length < 200_000, 'in few words')
      t.ok(user < 2_500_000, `${user} µs of CPU hold up the others`)
    })
  }
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
    }), { numRuns: runs(25) })
    t.ok(accepted > 2, `${accepted} were accepted`)
  })
}
