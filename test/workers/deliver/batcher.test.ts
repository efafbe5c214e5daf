import t from 'tap'
import fc from 'fast-check'
import { sharing, type Shared } from '../../../workers/deliver/batcher.js'

/** Doubles numbers. Batches wait until they are let through; 0 spoils a batch and itself, odd numbers are left out of it. */
function doubling (mostAtOnce = 100) {
  const batches: number[][] = []
  const alone: number[] = []
  const errors: unknown[] = []
  const waiting: (() => void)[] = []
  const shared: Shared<{ value: number }, number> = {
    async together (items) {
      batches.push(items.map(({ value }) => value))
      await new Promise<void>((resolve) => waiting.push(resolve))
      if (items.some(({ value }) => value === 0)) throw new Error('spoilt')
      return new Map(items.filter(({ value }) => value % 2 === 0).map((item) => [item, 2 * item.value]))
    },
    async alone ({ value }) {
      alone.push(value)
      if (value === 0) throw new Error('nothing')
      return 2 * value
    },
    onError: (error) => errors.push(error)
  }
  const double = sharing(shared, mostAtOnce)
  return { batches, alone, errors, waiting, double: (value: number) => double({ value }), next: () => waiting.shift()?.() }
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve))

t.test('what is asked for while a batch runs is the next batch, in the order in which it was asked for', async (t) => {
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
  t.same(waiting, [], 'and nothing runs when nobody asks')
  const last = double(12)
  await turn()
  next()
  t.equal(await last, 24, 'until somebody asks again')
})

t.test('a batch is not larger than it may be', async (t) => {
  const { batches, double, next } = doubling(2)
  const answers = [2, 4, 6, 8, 10].map(double)
  for (let n = 0; n < 3; n++) {
    await turn()
    next()
  }
  t.same(await Promise.all(answers), [4, 8, 12, 16, 20])
  t.same(batches, [[2, 4], [6, 8], [10]])
})

t.test('what a batch does not answer is answered alone, and the next batch does not wait for that', async (t) => {
  const never = sharing<string, string>({
    together: async (items) => new Map(items.filter((item) => item !== 'held').map((item) => [item, `${item}!`])),
    alone: () => new Promise(() => {}),
    onError: (error) => t.fail(String(error))
  }, 100)
  void never('held')
  t.equal(await never('free'), 'free!')
  t.equal(await never('later'), 'later!')
})

t.test('an error of one is its own: the others of its batch are answered', async (t) => {
  const { double, next, alone, errors } = doubling()
  const answers = [2, 0, 4].map(double)
  await turn()
  next()
  t.match(await Promise.allSettled(answers), [{ value: 4 }, { reason: { message: 'nothing' } }, { value: 8 }])
  t.same(alone, [2, 0, 4])
  t.match(errors, [{ message: 'spoilt' }], 'and it is told once')
})

t.test('whoever asks, and whenever, gets the answer to what was asked', async (t) => {
  await fc.assert(fc.asyncProperty(fc.array(fc.array(fc.integer({ min: 0, max: 50 }), { maxLength: 8 }), { maxLength: 12 }), async (rounds) => {
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
