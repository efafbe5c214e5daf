// What schemas cost an app: nothing before a request needs them, and once for all apps of a process.
import fastify from 'fastify'
import t, { type Test } from 'tap'
import { Type } from 'typebox'
import { serializerCompiler, validatorCompiler } from '../../src/http/bodies.js'

/** An app with one route, whose schemas tell when they are read. */
async function appOf (t: Test, schema: { body: object, response: object }) {
  const app = fastify()
  t.teardown(() => app.close())
  app.setValidatorCompiler(validatorCompiler)
  app.setSerializerCompiler(serializerCompiler)
  app.post('/', { schema }, async () => ({ kept: 1, other: 2 }))
  await app.ready()
  return app
}

function countedSchema () {
  const reads = { count: 0 }
  const properties = { kept: Type.Integer() }
  const schema = {
    type: 'object',
    get properties () {
      reads.count += 1
      return properties
    }
  }
  return { schema, reads }
}

t.test('a schema is compiled for the first request that needs it, and not for another app', async (t) => {
  const [body, answer] = [countedSchema(), countedSchema()]
  const schema = { body: body.schema, response: { 200: answer.schema } }
  const [app, other] = [await appOf(t, schema), await appOf(t, schema)]
  const atStart = [body.reads.count, answer.reads.count]
  const readsOf = async (app: Awaited<ReturnType<typeof appOf>>) => {
    const before = body.reads.count + answer.reads.count
    const { body: json } = await app.inject({ method: 'POST', url: '/', payload: { kept: 1 } })
    t.equal(json, '{"kept":1}', 'the schema says what is answered')
    return body.reads.count + answer.reads.count - before
  }
  const [first, later, ofOther] = [await readsOf(app), await readsOf(app), await readsOf(other)]
  t.strictSame(atStart, [0, 0])
  t.ok(first > later)
  t.equal(ofOther, later)
  t.equal((await app.inject({ method: 'POST', url: '/', payload: { kept: 'x' } })).statusCode, 400)
})
