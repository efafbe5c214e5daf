// The API document in OpenAPI 3.0: all of what it says, in words that older tools know.
import { Validator } from '@seriousme/openapi-schema-validator'
import t from 'tap'
import { openApi } from '../../support/http/openapi.js'

type Part = Record<string, unknown>

const { app, document } = await openApi()
const older = (await app.inject('/v1/docs/json?openapi=3.0')).json()

/** Every object in the value, but not inside examples, which may look like anything. */
function * within (value: unknown): Generator<Part> {
  if (typeof value !== 'object' || value === null) return
  if (!Array.isArray(value)) yield value as Part
  for (const [key, part] of Object.entries(value)) if (!['example', 'examples', 'enum'].includes(key)) yield * within(part)
}

const everything = [...within(older)]
const namesOf = (values: object) => Object.keys(values).sort()
const count = (parts: Iterable<Part>, holds: (part: Part) => unknown) => [...parts].filter(holds).length

t.test('it is valid OpenAPI 3.0, and has every operation and every part of the other', async (t) => {
  t.equal(older.openapi, '3.0.3')
  t.same(await new Validator().validate(older), { valid: true })
  t.same(older.webhooks, undefined)
  t.same(older.servers, document.servers)
  t.same(namesOf(older.paths), namesOf(document.paths))
  for (const kind of namesOf(document.components)) {
    t.same(namesOf(older.components[kind]), namesOf(document.components[kind]), kind)
  }
  const operations = (of: object) => count(within(of), (part) => typeof part.operationId === 'string')
  t.equal(operations(older.paths), operations(document.paths))
})

t.test('no word of 3.1 is left in it', async (t) => {
  for (const word of ['propertyNames', 'const', 'anyOf']) t.same(everything.filter((part) => word in part), [], word)
  t.notOk('identifier' in older.info.license)
  t.equal(count(everything, ({ type }) => Array.isArray(type) || type === 'null'), 0)
  t.equal(count(everything, ({ examples }) => Array.isArray(examples)), 0, 'a schema has one example')
  t.same(everything.filter((part) => '$ref' in part && Object.keys(part).length > 1), [], 'nothing stands beside a reference')
})

t.test('what may be null is so in both', async (t) => {
  const nulls = count(within(document.components), ({ type, anyOf }) =>
    (Array.isArray(type) && type.includes('null')) || Array.isArray(anyOf))
  t.ok(nulls > 50)
  t.equal(count(within(older.components), ({ nullable }) => nullable === true), nulls)
})

t.test('a choice in a query is no mere reference: clients in Rust did not import it', async (t) => {
  const schemas = everything.filter((part) => part.in === 'query').map(({ schema }) => Object(schema))
  t.ok(schemas.some(({ allOf }) => allOf?.length === 1 && allOf[0].$ref))
  t.same(schemas.filter((schema) => '$ref' in schema), [])
})
