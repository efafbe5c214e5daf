import t from 'tap'
import { batcher, lookUp, type LookUp } from '../../src/postgres/batcher.js'
import { watchedPool } from '../support/postgres/statements.js'
import { scratchLedger } from '../support/postgres/ledger.js'

const turn = () => new Promise<void>((resolve) => setImmediate(resolve))

t.test('a batch has at most as many items as its limit, and one that hangs does not stop others in more lanes', async (t) => {
  const ran: number[][] = []
  const half = batcher<number, number>({
    limit: 2,
    lanes: 2,
    async runBatch (items) {
      ran.push(items)
      if (items.includes(0)) await new Promise(() => {})
      return items.map((item) => item / 2)
    },
    isOfOne: () => false
  })
  void half(0)
  await turn()
  t.same(await Promise.all([2, 4, 6].map(half)), [1, 2, 3])
  t.same(ran, [[0], [2, 4], [6]])
})

const { pool } = await scratchLedger(t)
await pool.query('CREATE TABLE things (id bigint PRIMARY KEY, owner text, note text)')
await pool.query("INSERT INTO things SELECT n, 'user ' || n % 2, 'note ' || n FROM generate_series(1, 100) n")
const thing: LookUp = {
  name: 'find-thing', types: ['bigint', 'text'], text: 'SELECT note FROM things WHERE id = $1 AND owner = $2'
}

/** Counts the statements. */
function counting () {
  const sent: string[] = []
  const db = watchedPool(pool, { before: (statement) => sent.push(statement) })
  return { sent, find: (id: unknown, owner: unknown) => lookUp<{ note: string }>(db, thing, [id, owner]) }
}

t.test('each gets its own row, or none, beside other questions', async (t) => {
  const { sent, find } = counting()
  const found = await Promise.all([
    find(1, 'user 1'), find(2, 'user 1'), find(2, 'user 0'), find(2, 'user 0'), find(null, 'user 0')
  ])
  t.strictSame(found.map((row) => row?.note), ['note 1', undefined, 'note 2', 'note 2', undefined])
  t.equal(sent.length, 1)
})

t.test('a value that Postgres does not take fails only the one who gave it', async (t) => {
  const { find } = counting()
  const outcomes = await Promise.allSettled([find(1, 'user 1'), find('none', 'user 1'), find(3, 'user 1')])
  t.match(outcomes, [{ value: { note: 'note 1' } }, { reason: { code: '22P02' } }, { value: { note: 'note 3' } }])
})
