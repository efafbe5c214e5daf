// How much of something an owner has at once: others wait in turn, and no owner waits for another.
import t from 'tap'
import { Shares } from '../../src/commands/shares.js'

const patient = 60_000

t.test('so many of one owner have a share, the next one waits for the first that is released', async (t) => {
  const shares = new Shares(2, patient)
  const [first, second] = [await shares.acquire('1'), await shares.acquire('1')]
  const order: string[] = []
  const waiting = ['third', 'fourth'].map(async (name) => {
    const release = await shares.acquire('1')
    order.push(name)
    return release
  })
  t.ok(await shares.acquire('2'), 'another owner has shares of their own')
  t.strictSame(order, [])
  second?.()
  ;(await waiting[0])?.()
  await waiting[1]
  t.strictSame(order, ['third', 'fourth'], 'in the order in which they came')
  first?.()
})

t.test('who gets no share in time gets none', async (t) => {
  const shares = new Shares(1, 20)
  const release = await shares.acquire('1')
  t.equal(await shares.acquire('1'), undefined)
  release?.()
  t.ok(await shares.acquire('1'), 'and takes none with it')
})

t.test('one who leaves does not keep others waiting, and nothing is remembered of those who are gone', async (t) => {
  const shares = new Shares(1, patient)
  const release = await shares.acquire('1')
  const leaving = new AbortController()
  const left = shares.acquire('1', leaving.signal)
  const stayed = shares.acquire('1')
  leaving.abort()
  t.equal(await left, undefined)
  t.equal(await shares.acquire('1', AbortSignal.abort()), undefined)
  release?.()
  const last = await stayed
  t.equal(shares.owners, 1)
  last?.()
  t.equal(shares.owners, 0)
})

t.test('a large share waits until so much is free, and a small one behind it does not pass it', async (t) => {
  const shares = new Shares(10, patient)
  const stays = new AbortController().signal
  const first = await shares.acquire('1', stays, 6)
  const order: string[] = []
  const take = async (name: string, amount: number) => {
    const release = await shares.acquire('1', stays, amount)
    order.push(name)
    return release
  }
  const large = take('large', 8)
  const small = take('small', 1)
  const leaving = new AbortController()
  const left = shares.acquire('1', leaving.signal, 10)
  t.strictSame(order, [])
  first?.()
  first?.() // counts once
  await Promise.all([large, small])
  t.strictSame(order, ['large', 'small'])
  const behind = take('behind', 1)
  leaving.abort()
  t.equal(await left, undefined)
  ;(await behind)?.()
  t.strictSame(order, ['large', 'small', 'behind'], 'one who leaves lets those behind pass')
  ;(await large)?.()
  ;(await small)?.()
  t.equal(shares.owners, 0)
})

t.test('more than an owner may have counts as all of it', async (t) => {
  const shares = new Shares(10, 20)
  const release = await shares.acquire('1', undefined, 1_000)
  t.ok(release)
  t.equal(await shares.acquire('1'), undefined)
  release?.()
  t.ok(await shares.acquire('1'))
})

t.test('many may wait without anybody who leaves', async (t) => {
  const warnings: Error[] = []
  const warned = (warning: Error) => { warnings.push(warning) }
  process.on('warning', warned)
  t.teardown(() => process.off('warning', warned))
  const shares = new Shares(1, patient)
  const release = await shares.acquire('1')
  const waiting = Array.from({ length: 20 }, async () => (await shares.acquire('1'))?.())
  release?.()
  await Promise.all(waiting)
  t.strictSame(warnings, [])
})
