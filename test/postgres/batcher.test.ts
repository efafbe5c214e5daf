import t from 'tap'
import { batcher, type BatcherOptions } from '../../src/postgres/batcher.js'

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

t.test('an error of one item fails only that item, and the rest of its batch is answered', async (t) => {
  const { double, next, alone, errors } = doubling()
  const answers = [2, 0, 4].map(double)
  await turn()
  next()
  t.match(await Promise.allSettled(answers), [{ value: 4 }, { reason: { message: 'nothing' } }, { value: 8 }])
  t.same(alone, [2, 0, 4])
  t.match(errors, [{ message: 'spoilt' }], 'the error of the batch is reported once')
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
