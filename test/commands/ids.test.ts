// Ids are whole numbers that are never given out twice.
import t from 'tap'
import { IdsUsedUp, NotCaughtUp, openIds } from '../../src/commands/ids.js'
import { largestId } from '../../src/domain/json.js'
import { scratchLedger } from '../support/postgres/ledger.js'

const { pool } = await scratchLedger(t)
const ids = () => openIds(pool, async () => true)

t.test('ids of any number of processes and requests at once are different, also while a sequence is raised', async (t) => {
  const processes = [ids(), ids(), ids()]
  const taking = Promise.all(processes.flatMap((process) =>
    Array.from({ length: 50 }, (_, index) => process.take('lead', 1 + index % 7))))
  const raising = Array.from({ length: 20 }, (_, index) =>
    pool.query("SELECT ledger.raise_ids('ledger.lead_ids', $1)", [1_000 + index * 30]))
  await Promise.all(raising)
  const taken = (await taking).flat()
  t.equal(new Set(taken).size, taken.length)
  t.ok(taken.every((id) => Number.isSafeInteger(id) && id > 0))
})

t.test('no id is given before the projections have passed the head at the start; after that none asks', async (t) => {
  let asked = 0
  let isCaughtUp = false
  const process = openIds(pool, async () => {
    asked += 1
    return isCaughtUp
  })
  await t.rejects(process.take('assistant'), NotCaughtUp)
  isCaughtUp = true
  await process.take('assistant')
  await process.take('assistant')
  t.equal(asked, 2)
})

t.test('a sequence is raised past an id that the log has seen, and never set back', async (t) => {
  const raise = (seen: number) => pool.query('SELECT ledger.raise_ids(\'ledger.assistant_ids\', $1)', [seen])
  await raise(10_000)
  const [first = 0] = await ids().take('assistant')
  t.ok(first > 10_000)
  await raise(500)
  const [second = 0] = await ids().take('assistant')
  t.ok(second > first)
})

t.test('a block that reaches beyond the highest id is refused, however often it is asked for', async (t) => {
  const process = ids()
  await pool.query("SELECT setval('ledger.lead_ids', $1)", [largestId - 399])
  const [last = 0] = (await process.take('lead', 200)).slice(-1)
  t.equal(last, largestId)
  for (let again = 0; again < 3; again++) await t.rejects(process.take('lead'), IdsUsedUp)
  t.equal(
    (await pool.query("SELECT ledger.given_ids('ledger.lead_ids')::text AS given")).rows[0]?.given, String(largestId)
  )
  t.equal((await process.take('assistant')).length, 1, 'the other sequence goes on')
})
