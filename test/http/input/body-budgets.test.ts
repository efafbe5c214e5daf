// How many values a body may hold, up to the last one. One that is made to cost is answered in a moment, in few words,
// and nobody else waits for it.
import t from 'tap'
import { noStream } from '../../../src/log/event-log.js'
import { callReport, newAssistant, newLead } from '../../support/bodies/bodies.js'
import { callCompleted, proposed } from '../../support/events/call-events.js'
import { eventually } from '../../support/eventually.js'
import { testService } from '../../support/service.js'

const service = await testService(t)
const { call } = service
const engine = { authorization: `Bearer ${await service.token('engine', 'engine')}` }

const zeros = (count: number) => Array<number>(count).fill(0)
const tooMany = (most: number) =>
  `must hold at most ${most} values, with every object and array and everything in them`

/** How many values a body has without the list that fills it up. */
const values = (value: unknown): number => typeof value === 'object' && value !== null
  ? Object.values(value).reduce((sum: number, part) => sum + values(part), 1)
  : 1

t.test('a body holds 5,000 values, of any kind and wherever they are, and no more', async (t) => {
  const full = (body: object, given: (list: number[]) => object, more = 0) =>
    ({ ...body, ...given(zeros(5_000 - values({ ...body, ...given([]) }) + more)) })
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
    t.equal((await call('PUT', path, { variables: { list: zeros(5_000) } })).status, 422, `PUT ${path}`)
  }
  t.equal((await call('POST', '/user/webhook-secret/rotate', zeros(5_000))).status, 422, 'a body that nobody reads')
})

t.test('the report of a call holds 50,000 values by HTTP, and any number as an event', async (t) => {
  const { id } = (await call('POST', '/user/assistant', newAssistant())).body.data
  const report = (count: number) => callReport(id, { input_variables: { list: zeros(count) } })
  const room = 50_000 - values(report(0))
  const send = (callId: string, count: number) =>
    call('POST', `/engine/calls/${callId}/completed`, report(count), { headers: engine })
  t.equal((await send('full', room)).status, 202)
  const { status, body } = await send('fuller', room + 1)
  t.equal(status, 422)
  t.strictSame(body.errors, { body: [tooMany(50_000)] })

  const event = callCompleted('by-event', { assistant_id: id, input_variables: { list: zeros(60_000) } })
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

/** By path: fields of a body, and its status. */
const hostile: Record<string, Array<[title: string, fields: string, status: number]>> = {
  '/user/assistant': [
    ['170,000 empty items of a schema', `"post_call_schema":[${many(170_000, '{}')}]`, 422],
    ['a name 10,000 times in a schema', `"post_call_schema":[${many(10_000, property)}]`, 422],
    ['50,000 variables', `"variables":{${named(50_000, '1')}}`, 422],
    ['1,000 variables', `"variables":{${named(1_000, '1')}}`, 201],
    ['30,000 names that cannot be stored', `"variables":{${named(30_000, '0', '\\u0000')}}`, 422],
    ['100,000 numbers that lose digits', `"variables":{"n":[${many(100_000, '1e99')}]}`, 422],
    ['20,000 bad values under a name of 250,000 letters',
      `"variables":{"${'k'.repeat(250_000)}":[${many(20_000, '"\\u0000"')}]}`, 422],
    ['a time zone of 500,000 letters', `"timezone":"Europe/${'a/'.repeat(250_000)}"`, 422],
    ['a URL of 500,000 letters', `"webhook_url":"https://example.com/${'.'.repeat(490_000)}"`, 422]
  ],
  '/user/lead': [
    ['100,000 secondary contacts', `"secondary_contacts":[${many(100_000, '{}')}]`, 422],
    ['15,000 contacts with one number', `"secondary_contacts":[${many(15_000, '{"phone_number":"+15551239999"}')}]`, 422],
    ['50,000 unknown fields', named(50_000, '1'), 422],
    ['4,900 unknown fields', named(4_900, '1'), 200]
  ]
}

for (const [path, bodies] of Object.entries(hostile)) {
  for (const [title, fields, expected] of bodies) {
    t.test(title, async (t) => {
      const before = process.cpuUsage()
      const body = path === '/user/lead' ? lead(fields) : assistant(fields)
      const { status, body: answer } = await service.call('POST', path, body)
      const { user } = process.cpuUsage(before)
      t.equal(status, expected)
      t.ok(JSON.stringify(answer).length < 200_000, 'in few words')
      t.ok(user < 2_500_000, `${user} µs of CPU hold up the others`)
    })
  }
}

t.test('of very many wrong fields the first 500 are named, and that there are more', async (t) => {
  const errorsOf = async (wrong: number) => (await call('POST', '/user/assistant', newAssistant({
    post_call_schema: zeros(wrong)
  }))).body.errors
  const errors = await errorsOf(2_000)
  t.equal(Object.keys(errors).length, 501)
  t.strictSame(errors.body, ['has more wrong fields than the 500 that are named here'])
  t.notOk((await errorsOf(499)).body)
})
