// Bodies for the fuzz tests: what a schema describes, that with a few things wrong, and anything at all.
import fc from 'fast-check'
import { type JsonSchema, generateSync } from 'json-schema-faker'

/** A piece of JSON as it stands. */
export class Raw {
  constructor (readonly text: string) {}
}

/** Like JSON.stringify; a `Raw` inside stays as it is, and depth is no limit. */
export function jsonText (value: unknown): string {
  if (value instanceof Raw) return value.text
  if (Array.isArray(value)) return `[${value.map(jsonText).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  return `{${Object.entries(value).map(([key, inner]) => `${JSON.stringify(key)}:${jsonText(inner)}`).join(',')}}`
}

/** An array in an array in an array …: `levels` brackets. */
export const nested = (levels: number): Raw => new Raw('['.repeat(levels) + ']'.repeat(levels))

// Values that a field may get wrong: edges of types, long and strange texts, numbers by their letters, odd objects.
const raw = (...texts: string[]) => fc.constantFrom(...texts.map((text) => new Raw(text)))
const text = fc.string({ unit: 'binary', maxLength: 40 })
const lengths = fc.tuple(
  fc.constantFrom('x', ' ', 'ß', '💥', '\u2028'), fc.constantFrom(1, 100, 101, 255, 256, 500, 501, 2_048)
).map(([unit, count]) => unit.repeat(count))
const numbers = raw(
  '-0', '1e300', '-1e300', '1e400', '1e-400', '1E15', '9e15', '9007199254740991', '9007199254740992',
  '-9007199254740993', '1.0', '0.1e1', '1e-7', '5e-324', '123456789012345678901234567890', '0.30000000000000004'
)
const letters = raw(
  '"\\u0000"', '"a\\u0000b"', '"\\ud800"', '"\\udc00\\ud800"', '"\\ud83d\\ude00"', '"\\ufeff"', '"\\u2028\\/"',
  '"__proto__"'
)
const edges = fc.constantFrom<unknown>(
  null, true, false, 0, 1, -1, 0.5, 1.5, 5, 7, 11, 1201, '', ' ', '5', 'true', 'null', 'NaN', [], {}, [null], [[]],
  [{}], { '': '' }
)
const names = fc.oneof(text, fc.constantFrom(
  'constructor', 'toString', 'hasOwnProperty', 'toJSON', 'length', 'then', '', ' ', '0', 'a.b', 'a\nb', 'a/b~c', 'ſ',
  'end_call_tool.description', 'prototype'
))
const entry = fc.tuple(names, fc.oneof(edges, text, letters, numbers, fc.jsonValue({ maxDepth: 2 })))
const entryText = ([name, value]: readonly [string, unknown]) => `${JSON.stringify(name)}:${jsonText(value)}`
const object = fc.uniqueArray(entry, { maxLength: 5, selector: ([name]) => name })
  .map((entries): unknown => new Raw(`{${entries.map(entryText).join(',')}}`))
const depth = fc.constantFrom(29, 30, 31, 32, 33, 34, 2_000).map(nested)
const oddKey = raw(
  '{"__proto__":{}}', '{"constructor":{"prototype":{}}}', '{"\\u005f_proto__":1}', '{"a\\u0000":1}', '{"\\ud800":1}',
  '{"a":1,"a":2}', '{"a":{"b":1},"a":{}}'
)

/** One value where another was expected. */
const odd: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 5, arbitrary: edges },
  { weight: 3, arbitrary: lengths },
  { weight: 3, arbitrary: numbers },
  { weight: 2, arbitrary: text },
  { weight: 2, arbitrary: fc.jsonValue({ maxDepth: 3 }) },
  { weight: 2, arbitrary: object },
  { weight: 1, arbitrary: letters },
  { weight: 1, arbitrary: depth },
  { weight: 1, arbitrary: oddKey }
)

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
