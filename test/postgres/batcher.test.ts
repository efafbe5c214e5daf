import t from 'tap'
import { batcher, type BatcherOptions } from '../../src/postgres/batcher.js'
import { fc } from '../support/fuzz/property.js'

/** Doubles numbers. A batch waits for `next`; a 0 fails its batch and itself; a batch does not answer odd numbers. */
function doubling (limit = 100) {
  const batches: number[][] = []
  const alone: number[] = []
  const errors: unknown[] = []
  const waiting: (() => void)[] = []
  const options: BatcherOptions<{ value: number }, number> = {
    limit,
    async runBatch (items) {
      batches.push(items.map(({ value }) => value))
      await new Promise<void>((resolve) => waiting.push(resolve))
      if (items.some(({ value }) => value === 0)) throw new Error('spoilt')
      return new Map(items.filter(({ value }) => value % 2 === 0).map((item) => [item, 2 * item.value]))
    },
    async runOne ({ value }) {
      alone.push(value)
      if (value === 0) throw new Error('nothing')
      return 2 * value
    },
    onError: (error) => errors.push(error)
  }
  const double = batcher(options)
  return {
    batches, alone, errors, waiting, double: (value: number) => double({ value }), next: () => waiting.shift()?.()
  }
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve))

t.test('items that arrive while a batch runs are the next batch, in the order of their arrival', async (t) => {
  const { batches, double, next, waiting } = doubling()
  const answers = [2, 4].map(double)
  await turn()
  answers.push(double(6))
  await turn()
  answers.push(double(8), double(10))
  await turn()
  t.same(batches, [[2, 4]], 'one batch at a time')
  next()
  await turn()
  t.same(batches, [[2, 4], [6, 8, 10]])
  next()
  t.same(await Promise.all(answers), [4, 8, 12, 16, 20])
  await turn()
  t.same(waiting, [], 'nothing runs while nothing waits')
  const last = double(12)
  await turn()
  next()
  t.equal(await last, 24, 'until the next item arrives')
})

t.test('a batch has at most as many items as its limit', async (t) => {
  const { batches, double, next } = doubling(2)
  const answers = [2, 4, 6, 8, 10].map(double)
  for (let n = 0; n < 3; n++) {
    await turn()
    next()
  }
  t.same(await Promise.all(answers), [4, 8, 12, 16, 20])
  t.same(batches, [[2, 4], [6, 8], [10]])
})

t.test('an item that its batch does not answer runs alone, and the next batch does not wait for it', async (t) => {
  const never = batcher<string, string>({
    limit: 100,
    runBatch: async (items) => new Map(items.filter((item) => item !== 'locked').map((item) => [item, `${item}!`])),
    runOne: () => new Promise(() => {}),
    onError: (error) => t.fail(String(error))
  })
  void never('locked')
  t.equal(await never('free'), 'free!')
  t.equal(await never('later'), 'later!')
})

t.test('an error of one item fails only that item, and the rest of its batch is answered', async (t) => {
  const { double, next, alone, errors } = doubling()
  const answers = [2, 0, 4].map(double)
  await turn()
  next()
  t.match(await Promise.allSettled(answers), [{ value: 4 }, { reason: { message: 'nothing' } }, { value: 8 }])
  t.same(alone, [2, 0, 4])
  t.match(errors, [{ message: 'spoilt' }], 'the error of the batch is reported once')
})

t.test('every item gets its own answer, whenever it arrives', async (t) => {
  await fc.assert(fc.asyncProperty(fc.array(
    fc.array(fc.integer({ min: 0, max: 50 }), { maxLength: 8 }), { maxLength: 12 }
  ), async (rounds) => {
    const { double, next, waiting } = doubling(3)
    const answers: Promise<number>[] = []
    for (const round of rounds) {
      answers.push(...round.map((value) => double(value).catch(() => 0)))
      await turn()
      next()
    }
    for (let isOver = false; !isOver; next()) {
      await turn()
      isOver = waiting.length === 0
    }
    t.strictSame(await Promise.all(answers), rounds.flat().map((value) => 2 * value))
  }), { numRuns: 50 })
})

t.test('an error that is of no item is that of all, and nobody is asked alone', async (t) => {
  const down = batcher<number, number>({
    limit: 100,
    runBatch: async () => { throw new Error('nobody answers') },
    runOne: async () => Number(t.fail('asked alone')),
    isOfOne: () => false
  })
  t.match(await Promise.allSettled([down(1), down(2)]), Array(2).fill({ reason: { message: 'nobody answers' } }))
})

t.test('in more lanes, a batch that hangs does not stop the others', async (t) => {
  const ran: number[][] = []
  const half = batcher<number, number>({
    limit: 2,
    lanes: 2,
    async runBatch (items) {
      ran.push(items)
      if (items.includes(0)) await new Promise(() => {})
      return new Map(items.map((item) => [item, item / 2]))
    },
    runOne: async () => Number(t.fail('asked alone'))
  })
  void half(0)
  await turn()
  t.same(await Promise.all([2, 4, 6].map(half)), [1, 2, 3])
  t.same(ran, [[0], [2, 4], [6]])
})
