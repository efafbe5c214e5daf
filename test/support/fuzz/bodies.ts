// Bodies for the fuzz tests: what a schema describes, that with a few things wrong, and anything at all.
import fc from 'fast-check'
import { generateSync, type JsonSchema } from 'json-schema-faker'
import { Raw, jsonText, nested } from './json-text.js'
import { entryText, names, object, odd, text } from './odd-values.js'

export type JsonObject = Record<string, unknown>
export type Kind = 'valid' | 'near' | 'wild'

export interface FuzzBody {
  kind: Kind
  bytes: Buffer
}

/** Up to three changes: a field replaced, left out or unknown, or an odd value somewhere inside of it. */
function damaged (valid: fc.Arbitrary<JsonObject>, fields: readonly string[]): fc.Arbitrary<Buffer> {
  const change = fc.record({
    field: fc.oneof({ weight: 6, arbitrary: fc.constantFrom(...fields) }, { weight: 1, arbitrary: names }),
    how: fc.constantFrom('replace', 'replace', 'drop', 'inside', 'twice'),
    value: odd
  })
  return fc.tuple(valid, fc.array(change, { minLength: 1, maxLength: 3 })).map(([body, changes]) => {
    let twice = ''
    const fieldsNow = new Map(Object.entries(body))
    for (const { field, how, value } of changes) {
      if (how === 'drop') fieldsNow.delete(field)
      else if (how === 'twice') twice += `,${JSON.stringify(field)}:${jsonText(value)}`
      else fieldsNow.set(field, how === 'inside' ? inside(fieldsNow.get(field), value) : value)
    }
    const entries = [...fieldsNow].map(entryText)
    return Buffer.from(`{${entries.join(',')}${entries.length > 0 ? twice : ''}}`)
  })
}

function inside (container: unknown, value: unknown): unknown {
  if (Array.isArray(container)) return [...container.map((item) => inside(item, value)), value]
  if (typeof container !== 'object' || container === null || container instanceof Raw) return value
  const [first = 'odd'] = Object.keys(container)
  return { ...container, [first]: value }
}

const noJson = fc.constantFrom(
  '', ' ', '{', '}', '{}', '[]', 'null', '-', '01', '1.', '.5', '+1', 'NaN', 'Infinity', 'undefined', "{'a':1}",
  '{a:1}', '{"a":1,}', '{} {}', '/**/{}', '\ufeff{}', '\ufeff\ufeff{}', '\0', '"\n"', '{"a":"\\x41"}',
  `{"variables":${nested(60_000).text}}`
)

/** Texts and bytes that may not be JSON at all. */
function wild (valid: fc.Arbitrary<JsonObject>): fc.Arbitrary<Buffer> {
  const sound = valid.map((body) => Buffer.from(jsonText(body)))
  const cut = fc.tuple(sound, fc.double({ min: 0, max: 1, noNaN: true }))
    .map(([bytes, share]) => bytes.subarray(0, Math.floor(bytes.length * share)))
  const spoilt = fc.tuple(sound, fc.nat(), fc.nat(255)).map(([bytes, at, byte]) =>
    Buffer.concat([bytes.subarray(0, at % bytes.length), Buffer.from([byte]), bytes.subarray(at % bytes.length + 1)]))
  const texts = fc.oneof(fc.jsonValue().map((value) => JSON.stringify(value)), odd.map(jsonText), object.map(jsonText),
    text, noJson)
  const utf8 = texts.map((value) => Buffer.from(value))
  const utf16 = texts.map((value) => Buffer.from(value, 'utf16le'))
  const anything = fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes))
  return fc.oneof(cut, spoilt, utf8, utf16, anything)
}

export interface FuzzPlan {
  seed: number
  count: number
  schema: { properties: object }
  /** Makes what fits the schema fit the rules as well. */
  sound (generated: JsonObject): JsonObject
}

/** As many bodies as asked for: one in ten valid, three nearly, the rest wild; the same for the same seed. */
export function fuzzBodies ({ seed, count, schema, sound }: FuzzPlan): FuzzBody[] {
  const plain: JsonSchema = JSON.parse(JSON.stringify(schema))
  const drawn = Array.from({ length: 300 }, (_, index) =>
    generateSync(plain, { seed: seed + index, optionalsProbability: 0.4, maxLength: 60 }) as JsonObject)
  const valid = fc.constantFrom(...drawn).map(sound)
  const near = damaged(valid, Object.keys(schema.properties))
  const kinds: Array<fc.WeightedArbitrary<FuzzBody>> = [
    { weight: 1, arbitrary: valid.map((body) => ({ kind: 'valid', bytes: Buffer.from(jsonText(body)) })) },
    { weight: 3, arbitrary: near.map((bytes) => ({ kind: 'near', bytes })) },
    { weight: 6, arbitrary: wild(valid).map((bytes) => ({ kind: 'wild', bytes })) }
  ]
  return fc.sample(fc.oneof(...kinds), { seed, numRuns: count })
}
