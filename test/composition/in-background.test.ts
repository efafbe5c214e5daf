// Figures that are slow to read: read in the background, one look-up at a time.
import t from 'tap'
import { inBackground } from '../../src/composition/status/in-background.js'
import type { Sample } from '../../src/http/status/metrics.js'
import { eventually } from '../support/eventually.js'

t.test('slow figures are read in the background, once at a time, and left out while that fails', async (t) => {
  let answer = (_value: Promise<Sample[]>) => {}
  let looks = 0
  const read = inBackground<Sample[]>([], () => { looks++; return new Promise((resolve) => { answer = resolve }) }, 0)
  t.strictSame([read(), read(), looks], [[], [], 1])
  const sample = [{ labels: {}, value: 7 }]
  answer(Promise.resolve(sample))
  await eventually(() => read().length > 0)
  t.strictSame([read(), looks], [sample, 2], 'the next look-up runs')
  answer(Promise.reject(new Error('away')))
  await eventually(() => { try { return !read() } catch (error) { return String(error).includes('away') } })
  answer(Promise.resolve(sample))
  await eventually(() => read().length > 0)
  const seldom = inBackground<Sample[]>([], async () => { looks++; return sample })
  const before = looks
  await eventually(() => seldom().length > 0)
  t.equal(looks, before + 1, 'at most once a minute')
})
