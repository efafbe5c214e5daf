// Bodies that are made to cost: they are answered in a moment, in few words, and nobody else waits for them.
import { monitorEventLoopDelay } from 'node:perf_hooks'
import t from 'tap'
import { newAssistant, newLead } from '../../support/bodies/bodies.js'
import { testService } from '../../support/service.js'

const service = await testService(t)
const assistant = (fields: string) => JSON.stringify(newAssistant()).replace(/}$/, `,${fields}}`)
const lead = (fields: string) => JSON.stringify(newLead()).replace(/}$/, `,${fields}}`)
const keys = (count: number, value: string) =>
  Array.from({ length: count }, (_, index) => `"${index.toString(36)}":${value}`).join()

const hostile: ReadonlyArray<[title: string, path: string, body: string, status: number]> = [
  [
    '170,000 empty items of a schema', '/user/assistant', assistant(`"post_call_schema":[${'{},'.repeat(170_000)}0]`),
    422
  ],
  [
    'a name 10,000 times in a schema', '/user/assistant',
    assistant(`"post_call_schema":[${Array(10_000).fill('{"name":"n","type":"bool","description":"d"}').join()}]`), 422
  ],
  ['100,000 secondary contacts', '/user/lead', lead(`"secondary_contacts":[${'{},'.repeat(100_000)}0]`), 422],
  [
    '15,000 secondary contacts with one number', '/user/lead',
    lead(`"secondary_contacts":[${Array(15_000).fill('{"phone_number":"+15551239999"}').join()}]`), 422
  ],
  ['50,000 unknown fields', '/user/lead', lead(keys(50_000, '1')), 422],
  ['4,900 unknown fields', '/user/lead', lead(keys(4_900, '1')), 200],
  ['50,000 variables', '/user/assistant', assistant(`"variables":{${keys(50_000, '1')}}`), 422],
  ['1,000 variables', '/user/assistant', assistant(`"variables":{${keys(1_000, '1')}}`), 201],
  [
    '30,000 names that cannot be stored', '/user/assistant',
    assistant(`"variables":{${Array.from({ length: 30_000 }, (_, index) => `"${index}\\u0000":0`).join()}}`), 422
  ],
  [
    '100,000 numbers that lose digits', '/user/assistant', assistant(`"variables":{"n":[${'1e99,'.repeat(100_000)}0]}`),
    422
  ],
  [
    '20,000 bad values under a name of 250,000 letters', '/user/assistant',
    assistant(`"variables":{"${'k'.repeat(250_000)}":[${'"\\u0000",'.repeat(20_000)}0]}`), 422
  ],
  ['a time zone of 500,000 letters', '/user/assistant', assistant(`"timezone":"Europe/${'a/'.repeat(250_000)}"`), 422],
  [
    'a URL of 500,000 letters', '/user/assistant',
    assistant(`"webhook_url":"https://example.com/${'.'.repeat(490_000)}"`), 422
  ]
]

for (const [title, path, body, expected] of hostile) {
  t.test(title, async (t) => {
    const delay = monitorEventLoopDelay({ resolution: 10 })
    delay.enable()
    const { status, body: answer } = await service.call('POST', path, body)
    delay.disable()
    t.comment(`${Math.round(delay.max / 1e6)} ms`)
    t.equal(status, expected)
    t.ok(JSON.stringify(answer).length < 200_000, 'in few words')
    t.ok(delay.max / 1e6 < 2_500, 'without holding up the others')
  })
}

t.test('of very many wrong fields the first 500 are named, and that there are more', async (t) => {
  const { body: { errors } } =
    await service.call('POST', '/user/assistant', assistant(`"post_call_schema":[${Array(2_000).fill('0').join()}]`))
  t.equal(Object.keys(errors).length, 501)
  t.strictSame(errors.body, ['has more wrong fields than the 500 that are named here'])
  const few =
    await service.call('POST', '/user/assistant', assistant(`"post_call_schema":[${Array(499).fill('0').join()}]`))
  t.equal(Object.keys(few.body.errors).length, 500)
  t.notOk(few.body.errors.body)
})
