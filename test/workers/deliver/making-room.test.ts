import t from 'tap'
import { makingRoom } from '../../../workers/deliver/making-room.js'

/** Work that ends when it is told to, in a room for `most`. */
function working (most: number, afterMs = 5) {
  const errors: unknown[] = []
  const room = makingRoom({ afterMs, most })
  const begin = () => {
    const { promise, resolve, reject } = withResolvers()
    const state = { isOut: false, end: resolve, fail: reject, out: room.run(() => promise, (error) => errors.push(error)).finally(() => { state.isOut = true }) }
    return state
  }
  return { room, errors, begin }
}

function withResolvers () {
  let [resolve, reject] = [() => {}, (_error: Error) => {}]
  const promise = new Promise<void>((_resolve, _reject) => { [resolve, reject] = [_resolve, _reject] })
  return { promise, resolve, reject }
}

t.test('work that takes long makes room, as long as there is some', async (t) => {
  const { room, begin } = working(2)
  const [one, two, three] = [begin(), begin(), begin()]
  await Promise.all([one.out, two.out])
  t.notOk(three.isOut, 'there is room for two')
  two.end()
  await three.out
  let isSettled = false
  const settled = room.settled().then(() => { isSettled = true })
  one.end()
  await one.out
  t.notOk(isSettled, 'one still runs')
  three.end()
  await settled
})

t.test('work that ends soon is waited for, also when it fails', async (t) => {
  const { room, errors, begin } = working(1, 60_000)
  const [one, two] = [begin(), begin()]
  one.end()
  two.fail(new Error('spoilt'))
  await one.out
  await t.rejects(two.out, { message: 'spoilt' })
  await room.settled()
  t.same(errors, [], 'who waited knows of it')
})

t.test('what fails after it has made room is told, and leaves its room', async (t) => {
  const { room, errors, begin } = working(1)
  const one = begin()
  await one.out
  one.fail(new Error('spoilt'))
  await room.settled()
  t.match(errors, [{ message: 'spoilt' }])
  await begin().out
})
