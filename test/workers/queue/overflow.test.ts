// Long work leaves the concurrency of a worker for an overflow with a limit of its own.
import t from 'tap'
import { openOverflow } from '../../../workers/queue/overflow.js'

/** Starts work that ends when the test ends it, with an overflow for `limit`. */
function working (limit: number, afterMs = 5) {
  const errors: unknown[] = []
  const overflow = openOverflow({ afterMs, limit })
  const begin = () => {
    const { promise, resolve, reject } = withResolvers()
    const state = { isOut: false, end: resolve, fail: reject }
    const out = overflow.run(() => promise, (error) => errors.push(error)).finally(() => { state.isOut = true })
    return Object.assign(state, { out })
  }
  return { overflow, errors, begin }
}

function withResolvers () {
  let [resolve, reject] = [() => {}, (_error: Error) => {}]
  const promise = new Promise<void>((_resolve, _reject) => { [resolve, reject] = [_resolve, _reject] })
  return { promise, resolve, reject }
}

t.test('long work moves into the overflow, up to its limit', async (t) => {
  const { overflow, begin } = working(2)
  const [one, two, three] = [begin(), begin(), begin()]
  await Promise.all([one.out, two.out])
  t.notOk(three.isOut, 'two is the limit')
  two.end()
  await three.out
  let isSettled = false
  const settled = overflow.settled().then(() => { isSettled = true })
  one.end()
  await one.out
  t.notOk(isSettled, 'one still runs')
  three.end()
  await settled
})

t.test('short work stays in the concurrency until it ends or fails', async (t) => {
  const { overflow, errors, begin } = working(1, 60_000)
  const [one, two] = [begin(), begin()]
  one.end()
  two.fail(new Error('spoilt'))
  await one.out
  await t.rejects(two.out, { message: 'spoilt' })
  await overflow.settled()
  t.same(errors, [], 'its caller has the error already')
})

t.test('work that fails in the overflow reports its error and leaves the overflow', async (t) => {
  const { overflow, errors, begin } = working(1)
  const one = begin()
  await one.out
  one.fail(new Error('spoilt'))
  await overflow.settled()
  t.match(errors, [{ message: 'spoilt' }])
  await begin().out
})
