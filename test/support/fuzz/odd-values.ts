// Values that a field may get wrong: edges of types, long and strange texts, numbers by their letters, odd objects.
import fc from 'fast-check'
import { Raw, jsonText, nested } from './json-text.js'

const raw = (...texts: string[]) => fc.constantFrom(...texts.map((text) => new Raw(text)))
export const text = fc.string({ unit: 'binary', maxLength: 40 })
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
export const names = fc.oneof(text, fc.constantFrom(
  'constructor', 'toString', 'hasOwnProperty', 'toJSON', 'length', 'then', '', ' ', '0', 'a.b', 'a\nb', 'a/b~c', 'ſ',
  'end_call_tool.description', 'prototype'
))
const entry = fc.tuple(names, fc.oneof(edges, text, letters, numbers, fc.jsonValue({ maxDepth: 2 })))
export const entryText = ([name, value]: readonly [string, unknown]) => `${JSON.stringify(name)}:${jsonText(value)}`
export const object = fc.uniqueArray(entry, { maxLength: 5, selector: ([name]) => name })
  .map((entries): unknown => new Raw(`{${entries.map(entryText).join(',')}}`))
const depth = fc.constantFrom(29, 30, 31, 32, 33, 34, 2_000).map(nested)
const oddKey = raw(
  '{"__proto__":{}}', '{"constructor":{"prototype":{}}}', '{"\\u005f_proto__":1}', '{"a\\u0000":1}', '{"\\ud800":1}',
  '{"a":1,"a":2}', '{"a":{"b":1},"a":{}}'
)

/** One value where another was expected. */
export const odd: fc.Arbitrary<unknown> = fc.oneof(
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
