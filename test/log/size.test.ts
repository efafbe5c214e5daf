// What is kept in memory is weighed whole, whatever holds it: caches are bounded by this.
import t from 'tap'
import { sizeOf } from '../../src/log/stored.js'

t.test('text counts wherever it stands', async (t) => {
  const text = 'x'.repeat(10_000)
  const holders = { text, array: [text], object: { a: { text } }, map: new Map([[1, text]]), set: new Set([text]) }
  for (const [holder, value] of Object.entries(holders)) t.ok(sizeOf(value) > 10_000, holder)
  t.ok(sizeOf(new Map([[text, 1]])) > 10_000, 'a key of a map')
  t.ok(sizeOf(Buffer.alloc(10_000)) > 10_000, 'bytes')
})
