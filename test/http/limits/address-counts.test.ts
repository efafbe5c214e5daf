// Strangers are counted by address: what one address is, when a count ends, and how many are remembered.
import t from 'tap'
import { AddressCounts } from '../../../src/http/limits/address-counts.js'

t.test('an address is counted for a minute from its first request, then anew', async (t) => {
  const counts = new AddressCounts()
  t.strictSame(counts.add('192.0.2.1', 0), { count: 1, resetsInSeconds: 60 })
  t.strictSame(counts.add('192.0.2.1', 30_500), { count: 2, resetsInSeconds: 30 })
  t.strictSame(counts.add('192.0.2.2', 30_500), { count: 1, resetsInSeconds: 60 }, 'another counts for itself')
  t.strictSame(counts.add('192.0.2.1', 59_999), { count: 3, resetsInSeconds: 1 })
  t.strictSame(counts.add('192.0.2.1', 60_000), { count: 1, resetsInSeconds: 60 })
})

t.test('of IPv6 the first 64 bits count, and IPv4 in IPv6 is IPv4', async (t) => {
  const counts = new AddressCounts()
  counts.add('2001:db8:1:2::1', 0)
  t.equal(counts.add('2001:db8:1:2:ffff::2', 0).count, 2)
  t.equal(counts.add('2001:db8:1:3::1', 0).count, 1)
  counts.add('192.0.2.1', 0)
  t.equal(counts.add('::ffff:192.0.2.1', 0).count, 2)
  t.equal(counts.add(undefined, 0).count, 1, 'a connection that is closed has no address')
})

t.test('no more addresses are remembered than the bound, the newest', async (t) => {
  const counts = new AddressCounts(100)
  for (let n = 0; n < 10_000; n++) counts.add(`2001:db8:${n.toString(16)}::1`, 0)
  t.equal(counts.size, 100)
  t.equal(counts.add(`2001:db8:${(9_999).toString(16)}::1`, 0).count, 2)
  t.equal(counts.add('2001:db8:0::1', 0).count, 1)
})
