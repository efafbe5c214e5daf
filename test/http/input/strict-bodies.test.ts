// The three endpoints that take a body of a user, and rules that are tried at each of them.
import t, { type Test } from 'tap'
import type { Answer } from '../../support/running-service.js'
import { newAssistant, newLead, callReport } from '../../support/bodies/bodies.js'
import { jsonText, nested, Raw } from '../../support/fuzz/bodies.js'
import { eventCounts } from '../../support/fuzz/rules.js'
import { testService } from '../../support/service.js'
import { once } from 'node:events'
import { connect } from 'node:net'
import { gzipSync } from 'node:zlib'

export interface Endpoint { method: string, path: string, ok: number, required: string[], valid (): object }

type Body = string | Buffer | ReadableStream | undefined

export async function everyEndpoint (t: Test) {
  const service = await testService(t)
  const token = await service.token('1')
  const { body: { data: { id } } } = await service.call('POST', '/user/assistant', newAssistant())
  const endpoints = endpointsOf(id)

  async function send (
    { method, path }: Endpoint, body: Body, headers: Record<string, string> = { 'content-type': 'application/json' }
  ): Promise<Answer> {
    const answer = await fetch(`${service.url}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, ...headers },
      ...(body !== undefined && { body }),
      duplex: 'half'
    })
    return { status: answer.status, headers: answer.headers, body: await answer.json() }
  }

  /** The rule for each endpoint. A rule that refuses all bodies writes nothing. */
  function everywhere (title: string, refusesAll: boolean, rule: (t: Test, endpoint: Endpoint) => Promise<void>): void {
    t.test(title, async (t) => {
      for (const endpoint of endpoints) {
        const before = await eventCounts(service)
        await t.test(`${endpoint.method} ${endpoint.path}`, (t) => rule(t, endpoint))
        if (refusesAll) t.strictSame(await eventCounts(service), before, 'nothing was written')
      }
    })
  }

  /** The variables that were stored, as a read shows them. */
  async function stored (endpoint: Endpoint, { headers, body: { data } }: Answer): Promise<Record<string, unknown>> {
    const path = endpoint.path === '/user/lead' ? `/user/lead/${data.id}` : `/user/assistant/${data.id}`
    const position = { 'x-read-position': headers.get('x-read-position') ?? '' }
    const { body } = await service.call('GET', path, undefined, { headers: position })
    return (body.data.settings ?? body.data).variables
  }

  return { service, token, send, everywhere, stored }
}

function endpointsOf (id: number): Endpoint[] {
  let numbers = 0
  const required = Object.keys(newAssistant())
  const anotherLead = () => newLead({ phone_number: `+1555123${1000 + numbers++}` })
  const update = () => ({ assistant_name: 'Night desk' })
  return [
    { method: 'POST', path: '/user/assistant', ok: 201, required, valid: () => newAssistant() },
    { method: 'PUT', path: `/user/assistant/${id}`, ok: 200, required: [], valid: update },
    { method: 'POST', path: '/user/lead', ok: 200, required: ['phone_number', 'campaign_id'], valid: anotherLead }
  ]
}

/** The valid body of the endpoint with these fields besides, as text. */
export const text = (endpoint: Endpoint, fields: object = {}) => jsonText({ ...endpoint.valid(), ...fields })
export const variables = (endpoint: Endpoint, value: unknown) => text(endpoint, { variables: { n: value } })

export function isRefused (t: Test, { status, body }: Answer, expected: number, fields?: string[], why = ''): void {
  t.equal(status, expected, why)
  t.strictSame(Object.keys(body).sort(), fields ? ['errors', 'message'] : ['message'], why)
  if (fields) t.strictSame(Object.keys(body.errors).sort(), fields.sort(), why)
}

const { service, token, send, everywhere, stored } = await everyEndpoint(t)
const limit = 512 * 1024

everywhere('a body is an object with what is required', true, async (t, endpoint) => {
  for (const body of ['[]', 'null', '5', '"x"', 'true', '[{}]']) {
    t.strictSame((await send(endpoint, body)).body.errors, { body: ['must be a JSON object'] }, body)
  }
  isRefused(t, await send(endpoint, undefined, {}), 422, ['body'], 'none at all')
  const empty = await send(endpoint, '{}')
  if (endpoint.required.length > 0) isRefused(t, empty, 422, endpoint.required, '{}')
  else t.equal(empty.status, 200, '{} changes nothing')
})

everywhere('a body that is no JSON is a 400', true, async (t, endpoint) => {
  for (const body of ['', ' ', '{', '{"a":1,}', '{} {}', "{'a':1}", '{"a":NaN}', '\0', '{"a":"\n"}']) {
    isRefused(t, await send(endpoint, body), 400, undefined, JSON.stringify(body))
  }
  const latin1 = Buffer.from(text(endpoint, { variables: { name: 'é' } }), 'latin1')
  isRefused(t, await send(endpoint, latin1), 400, undefined, 'bytes that are no UTF-8')
  isRefused(t, await send(endpoint, Buffer.from(text(endpoint), 'utf16le')), 400, undefined, 'UTF-16')
})

everywhere('keys that reach for prototypes are a 400, however they are written', true, async (t, endpoint) => {
  for (const key of ['{"__proto__":{"a":1}}', '{"\\u005f_proto__":1}', '{"constructor":{"prototype":{}}}']) {
    isRefused(t, await send(endpoint, key), 400, undefined, key)
    isRefused(t, await send(endpoint, variables(endpoint, new Raw(`[${key}]`))), 400, undefined, `${key} further in`)
  }
  t.equal(Reflect.get({}, 'a'), undefined)
})

everywhere('anything but application/json in UTF-8 is a 415', true, async (t, endpoint) => {
  const types = [
    'text/plain', 'application/x-www-form-urlencoded', 'application/json-patch+json', 'text/json', 'nonsense',
    'application/json; charset=iso-8859-1', 'application/json;charset="utf-16"'
  ]
  for (const type of types) {
    isRefused(t, await send(endpoint, text(endpoint), { 'content-type': type }), 415, undefined, type)
  }
  isRefused(t, await send(endpoint, Buffer.from(text(endpoint)), {}), 415, undefined, 'no type')
})

everywhere('the usual ways to say JSON are taken', false, async (t, endpoint) => {
  for (const type of ['application/json', 'Application/JSON; charset=UTF-8', 'application/json;charset="utf-8"']) {
    t.equal((await send(endpoint, text(endpoint), { 'content-type': type })).status, endpoint.ok, type)
  }
  t.equal((await send(endpoint, `\ufeff${text(endpoint)}`)).status, endpoint.ok, 'with a byte order mark')
})

everywhere('of a key that is there twice the last one counts, also in the event', false, async (t, endpoint) => {
  const answer = await send(endpoint, text(endpoint, { variables: new Raw('{"a":1,"b":{"x":1},"a":2,"b":{}}') }))
  t.equal(answer.status, endpoint.ok)
  const { a, b } = await stored(endpoint, answer)
  t.strictSame([a, b], [2, {}])
})

everywhere('NUL and lone surrogates are refused on their field, wherever they are', true, async (t, endpoint) => {
  for (const bad of ['\\u0000', 'a\\u0000b', '\\ud800', '\\udc00\\ud800']) {
    const value = new Raw(`"${bad}"`)
    const key = new Raw(`{"${bad}":1}`)
    const shown: string = JSON.parse(`"${bad}"`).toWellFormed().replaceAll('\0', '')
    isRefused(t, await send(endpoint, text(endpoint, { unknown: value })), 422, ['unknown'], bad)
    isRefused(t, await send(endpoint, variables(endpoint, [{ deep: value }])), 422, ['variables.n.0.deep'], bad)
    isRefused(t, await send(endpoint, variables(endpoint, [key])), 422, [`variables.n.0.${shown}`], `${bad} in a name`)
    const atTop = await send(endpoint, text(endpoint).replace('{', `{"x${bad}":1,`))
    isRefused(t, atTop, 422, [`x${shown}`], `${bad} in a name at the top`)
  }
})

everywhere('names with line breaks, dots and slashes are named in errors like any other', true, async (t, endpoint) => {
  for (const name of ['a\nb', '\u2028', 'a.b', '~/', 'constructor', 'toString', '5']) {
    const answer = await send(endpoint, text(endpoint, { [name]: new Raw('"\\u0000"') }))
    isRefused(t, answer, 422, [name], encodeURIComponent(name))
  }
})

everywhere('a body may be nested 32 levels deep, and no deeper', false, async (t, endpoint) => {
  const answer = await send(endpoint, variables(endpoint, nested(31)))
  t.equal(answer.status, endpoint.ok)
  t.equal(JSON.stringify((await stored(endpoint, answer)).n), nested(31).text)
  for (const levels of [32, 4_900]) {
    const headers = { 'content-type': 'application/json', 'idempotency-key': `deep ${levels}` }
    const { status, body } = await send(endpoint, variables(endpoint, nested(levels)), headers)
    t.equal(status, 422)
    t.strictSame(body.errors, { [`variables.n${'.0'.repeat(30)}`]: ['must not be nested more than 32 levels deep'] })
  }
})

everywhere('numbers that would lose digits are refused, all others come back', false, async (t, endpoint) => {
  for (const number of ['1e300', '-1e300', '1e400', '9007199254740992', '-9007199254740993']) {
    isRefused(t, await send(endpoint, variables(endpoint, new Raw(number))), 422, ['variables.n'], number)
  }
  const fine = [
    '9007199254740991', '-9007199254740991', '-0', '1e-400', '5e-324', '1e15', '1.0', '0.30000000000000004', '-1E-7'
  ]
  const answer = await send(endpoint, variables(endpoint, fine.map((number) => new Raw(number))))
  t.equal(answer.status, endpoint.ok)
  t.equal(JSON.stringify((await stored(endpoint, answer)).n), JSON.stringify(fine.map(Number)))
})

everywhere('a body has 512 KiB, however it is sent', false, async (t, endpoint) => {
  const padded = (length: number) => text(endpoint).padEnd(length)
  t.equal((await send(endpoint, padded(limit))).status, endpoint.ok, 'exactly')
  const before = await eventCounts(service)
  isRefused(t, await send(endpoint, padded(limit + 1)), 413, undefined, 'one byte more')
  const chunked = new Blob([padded(limit + 1)]).stream()
  isRefused(t, await send(endpoint, chunked), 413, undefined, 'one byte more in chunks')
  t.strictSame(await eventCounts(service), before, 'nothing was written')
})

const ofJson = (length: number) => ['Content-Type: application/json', `Content-Length: ${length}`]

everywhere('a Content-Length that is not true leads to nothing', true, async (t, { method, path, valid }) => {
  const body = JSON.stringify(valid())
  for (const [length, answer] of [
    [body.length - 1, /^HTTP\/1\.1 400 /], [body.length + 1, /^(HTTP\/1\.1 400 |$)/]
  ] as const) {
    const socket = connect(Number(new URL(service.url).port), '127.0.0.1')
    const head = [`${method} ${path} HTTP/1.1`, 'Host: a', `Authorization: Bearer ${token}`, ...ofJson(length)]
    socket.end(`${head.join('\r\n')}\r\n\r\n${body}`)
    let said = ''
    socket.setEncoding('utf8').on('data', (text: string) => { said += text })
    await once(socket, 'close')
    t.match(said, answer, `${length} instead of ${body.length}`)
  }
})

t.test('the report of a call that grows over 1 MiB when it is written again is a 413', async (t) => {
  const before = await eventCounts(service)
  const grows = { padding: 'x'.repeat(400_000), list: new Raw(`[${'9e15,'.repeat(45_000)}0]`) }
  const headers = { authorization: `Bearer ${await service.token('engine', 'engine')}` }
  const path = '/engine/calls/grows/completed'
  isRefused(t, await service.call('POST', path, jsonText(callReport(1, { input_variables: grows })), { headers }), 413)
  t.strictSame(await eventCounts(service), before, 'nothing was written')
})

everywhere('a body that is encoded is a 415, whatever it holds; identity is no encoding', false, async (t, endpoint) => {
  const json = { 'content-type': 'application/json' }
  const before = await eventCounts(service)
  for (const encoding of ['gzip', 'deflate', 'br', 'x-unknown', 'identity, gzip', '']) {
    const answer = await send(endpoint, text(endpoint), { ...json, 'content-encoding': encoding })
    isRefused(t, answer, 415, undefined, encoding)
    t.match(answer.body.message, /Content-Encoding/)
    t.equal(answer.headers.get('accept-encoding'), 'identity')
  }
  const zipped = gzipSync(text(endpoint))
  isRefused(t, await send(endpoint, zipped, { ...json, 'content-encoding': 'gzip' }), 415)
  t.strictSame(await eventCounts(service), before, 'nothing was written')
  const plain = await send(endpoint, text(endpoint), { ...json, 'content-encoding': 'Identity' })
  t.equal(plain.status, endpoint.ok)
})
