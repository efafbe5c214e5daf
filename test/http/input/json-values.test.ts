// How many values a JSON text holds is known before it is parsed, and exactly.
import t, { type Test } from 'tap'
import { hasMoreValues } from '../../../src/http/bodies.js'

/** By the parser: the value and everything in it. */
function countOf (value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1
  return 1 + Object.values(value).reduce((sum: number, part) => sum + countOf(part), 0)
}

/** Short texts are not looked at: the blanks make every text long enough. */
function holds (t: Test, json: string, count: number): void {
  const bytes = Buffer.from(`${json}${' '.repeat(2 * count + 2)}`)
  t.equal(hasMoreValues(bytes, count), false, `${json.slice(0, 60)} holds no more than ${count}`)
  t.equal(hasMoreValues(bytes, count - 1), true, `${json.slice(0, 60)} holds more than ${count - 1}`)
}

const texts = [
  '0', '[]', '{}', '[ ]', '[[]]', '[1]', '{"a":1}', '{"a":[],"b":{}}', '[[],[[]],{"a":{"b":[1,2,{}]}}]',
  ' [ 1 , [ 2 , "x" ] , null ] ', '["a,b","[{","\\"","\\\\",",\\",",""]', '{"a,\\"[":"}","\\\\":[true,false]}',
  '["😀","ü,ü"]', '[-1.5e+3,{"n":[{"m":null}]}]'
]

t.test('every object, array and part of them counts, and nothing that stands in a string', async (t) => {
  for (const json of texts) holds(t, json, countOf(JSON.parse(json)))
})

t.test('of a key that is there twice both values count', async (t) => {
  holds(t, '{"a":1,"a":2}', 3)
})

t.test('the densest texts are counted', async (t) => {
  const most = 1_000
  for (const of of [(n: number) => `[${Array(n - 1).fill('0').join()}]`, (n: number) => `${'['.repeat(n - 1)}0${']'.repeat(n - 1)}`]) {
    t.equal(hasMoreValues(Buffer.from(of(most)), most), false)
    t.equal(hasMoreValues(Buffer.from(of(most + 1)), most), true)
  }
})

t.test('what is no JSON is looked at to its end, and no further', async (t) => {
  for (const text of ['"', '"\\', '[{"', '['.repeat(100), ',,,,', '\0']) {
    t.type(hasMoreValues(Buffer.from(text.padEnd(300)), 100), 'boolean', text)
  }
})
