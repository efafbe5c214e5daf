// How new what is read is, where no projection tells it.
import t from 'tap'
import { readPositions } from '../../src/composition/read-positions.js'

const unused = () => { throw new Error('nobody asks for it') }

t.test('however many wait for the ledger of deliveries, its checkpoint is looked up once in 50 ms', async (t) => {
  let [looks, dispatched] = [0, 5n]
  const { reached, passed } = readPositions({
    positions: { passed: unused, reached: unused },
    streams: { head: unused },
    dispatched: async () => { looks++; return dispatched },
    waitMs: 1_000
  })
  const began = performance.now()
  const early = Array.from({ length: 2_000 }, (_, n) => reached('deliveries', BigInt(n % 10), 10_000))
  const late = Array.from({ length: 2_000 }, () => reached('deliveries', 100n, 300))
  dispatched = 10n
  t.strictSame(new Set(await Promise.all(early)), new Set([true]))
  t.strictSame(new Set(await Promise.all(late)), new Set([false]))
  t.equal(await passed('deliveries'), 10n)
  const ms = performance.now() - began
  t.ok(looks <= ms / 50 + 2, `${looks} looks in ${Math.round(ms)} ms`)
})
