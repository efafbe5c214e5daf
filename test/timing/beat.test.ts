// What looks again and again shares its moments.
import t from 'tap'
import { beat, nextBeat } from '../../src/timing.js'

t.test('who waits for one period is woken at one moment, half of it to one and a half from then', async (t) => {
  const from = performance.now()
  const woken: number[] = []
  const waiting = Array.from({ length: 3 }, async () => {
    await nextBeat(100).struck
    woken.push(performance.now())
  })
  await Promise.all(waiting)
  const [first = 0, , last = Infinity] = woken
  t.ok(last - first < 5, `within ${last - first} ms`)
  t.ok(first - from >= 49, `after ${first - from} ms`)
})

t.test('one that is cancelled resolves at once, and the others go on waiting', async (t) => {
  const [cancelled, other] = [nextBeat(60_000), nextBeat(60_000)]
  let isOver = false
  void other.struck.then(() => { isOver = true })
  cancelled.cancel()
  await cancelled.struck
  t.notOk(isOver)
  other.cancel()
  await other.struck
})

t.test('an abort ends the waiting', async () => {
  const stopping = new AbortController()
  const waiting = beat(60_000, stopping.signal)
  stopping.abort()
  await waiting
  await beat(60_000, stopping.signal)
})
