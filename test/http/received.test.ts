// What a route makes of a body before any rule is asked, over real HTTP.
import fastify from 'fastify'
import t, { type Test } from 'tap'
import { CreateLeadBody } from '../../src/features/leads/decide.js'
import type { App } from '../../src/http/app-types.js'
import { received, validatorCompiler } from '../../src/http/bodies.js'

const lead = { phone_number: '+15551230001', campaign_id: 1 }

async function post (t: Test, payload: string) {
  const app: App = fastify()
  t.teardown(() => app.close())
  app.setValidatorCompiler(validatorCompiler)
  app.post('/', { schema: { body: CreateLeadBody }, attachValidation: true }, async (request, reply) =>
    received(request, reply, CreateLeadBody))
  const answer = await app.inject({
    method: 'POST', url: '/', headers: { 'content-type': 'application/json' }, payload
  })
  return {
    status: answer.statusCode,
    ignored: answer.headers['x-ignored-fields'],
    answer: answer.json<{ body: object, refused?: object }>()
  }
}

t.test('unknown fields are ignored at every depth, and named', async (t) => {
  const { ignored, answer } = await post(t, JSON.stringify({
    ...lead, nickname: 1, größe: 2, variables: { free: 1 }, secondary_contacts: [{ phone_number: '+15551230002', email: 'x', variables: { free: 2 } }]
  }))
  t.equal(ignored, 'nickname, gr%C3%B6%C3%9Fe, secondary_contacts.0.email')
  t.equal(answer.refused, undefined)
  t.equal((await post(t, JSON.stringify(lead))).ignored, undefined)
})

t.test('unknown fields never break the answer: lone surrogates, line breaks, long names, many names', async (t) => {
  t.match(await post(t, '{"\\ud800":1}'), { status: 200, ignored: '%EF%BF%BD' })
  t.match(await post(t, '{"a\\r\\nb":1}'), { status: 200, ignored: 'a%0D%0Ab' })
  for (const names of [['ä'.repeat(100_000)], Array.from({ length: 10_000 }, (_, index) => `field_number_${index}`)]) {
    const { status, ignored } = await post(t, JSON.stringify(Object.fromEntries(names.map((name) => [name, 1]))))
    t.equal(status, 200)
    t.ok(String(ignored).length <= 2_048)
  }
})

t.test('what cannot be stored is refused together with what the schema refuses', async (t) => {
  const { answer } = await post(t, '{"phone_number":5,"campaign_id":1,"variables":{"a":"\\u0000"}}')
  t.strictSame(Object.keys(answer.refused ?? {}).sort(), ['phone_number', 'variables.a'])
})
