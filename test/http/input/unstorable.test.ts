// What JSON allows and a projection could not store.
import t from 'tap'
import { unstorable } from '../../../src/http/field-errors.js'
import { fc } from '../../support/fuzz/property.js'

const text = 'must not contain NUL characters or lone surrogates'
const name = 'must not have NUL characters or lone surrogates in its name'
const range = 'must be between -9007199254740991 and 9007199254740991'

const nested = (levels: number): unknown => levels === 0 ? 'x' : { a: nested(levels - 1) }

t.test('whatever stays the same when it is stored passes', async (t) => {
  for (const body of [{}, {
    a: [1, -1.5, 1e-300, 2 ** 53 - 1, null, true, 'Grüezi 👋\u0001\ufffe']
  }, 'x', null, undefined, nested(32)]) t.strictSame(unstorable(body), {})
})

t.test('NUL and lone surrogates are refused, in strings and in names', async (t) => {
  t.strictSame(unstorable({ a: 'x\0', b: ['\ud800', { c: '\udc00x' }], d: '\ud83d\ude00' }), {
    a: [text], 'b.0': [text], 'b.1.c': [text]
  })
  t.strictSame(unstorable({ 'a\0b': 1, v: { '\ud800': { deeper: '\0' } } }), { ab: [name], 'v.\ufffd': [name] })
  t.strictSame(unstorable('\0'), { body: [text] })
})

t.test('numbers that are not finite or lose digits are refused', async (t) => {
  t.strictSame(unstorable(JSON.parse('{"a":1e999,"b":9007199254740992,"c":-9007199254740993,"d":1e300,"e":0.1}')), {
    a: ['must be a finite number'], b: [range], c: [range], d: [range]
  })
})

t.test('more than 32 levels are refused, at the level that is too much', async (t) => {
  t.strictSame(unstorable(nested(33)), {
    [Array(32).fill('a').join('.')]: ['must not be nested more than 32 levels deep']
  })
  let deep: unknown = 'x'
  for (let level = 0; level < 100_000; level += 1) deep = [deep]
  t.equal(Object.keys(unstorable(deep)).length, 1)
})

t.test('every other JSON value passes', async () => {
  fc.assert(fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
    const isOdd = /\\u0000|\\ud[89a-f]/i.test(JSON.stringify(value)) || JSON.stringify(value, (_key, inner: unknown) =>
      typeof inner === 'number' && Number.isInteger(inner) &&
        !Number.isSafeInteger(inner)
        ? '\0'
        : inner).includes('\\u0000')
    const isRefused = Object.keys(unstorable(value)).length > 0
    return isOdd === isRefused
  }))
})
