import t from 'tap'
import { perSecond } from '../../bench/webhooks/rate.js'

t.test('a rate is that of everything after the first fifth', async (t) => {
  const slow = [0, 1_000, 2_000]
  const fast = Array.from({ length: 8 }, (_, n) => 2_100 + n * 10)
  t.equal(perSecond([...slow.slice(0, 2), ...fast]), 100)
  t.ok(perSecond([...slow, ...fast]) < 50, 'a pause within the rest counts')
})

t.test('nothing has no rate', async (t) => {
  t.ok(Number.isNaN(perSecond([])))
})
