// On Postgres one job wakes several attempts: each is made by itself, and no worker takes more than it has room for.
import t, { type Test } from 'tap'
import { openQueue } from '../../../../workers/queue/queue.js'
import { eventually } from '../../../support/eventually.js'
import { keepingLog, scratchLedger } from '../../../support/postgres/ledger.js'

const { databaseUrl, pool } = await scratchLedger(t)
const log = keepingLog()

async function open (t: Test) {
  const queue = await openQueue({ databaseUrl, pool, log })
  t.teardown(() => queue.close())
  return queue
}

const attempts = (name: string, count: number) =>
  Array.from({ length: count }, (_, n) => ({ deliveryId: `${name}-${n}`, n: 1, jobNumber: 1 }))

async function countJobs (): Promise<number> {
  const { rows: [row] } = await pool.query<{ count: number }>('SELECT count(*)::integer AS count FROM queue.job')
  return row?.count ?? NaN
}

t.test('attempts that are queued together share jobs, and the queue knows each of them', async (t) => {
  const queue = await open(t)
  await queue.add(attempts('a', 45))
  await queue.add(attempts('alone', 1))
  t.equal(await countJobs(), 4)
  const all = [...attempts('a', 45), ...attempts('alone', 1)]
  t.same([...await queue.ids()].sort(), all.map(({ deliveryId }) => `${deliveryId}-1-1`).sort())
  const made: string[] = []
  queue.work(async ({ deliveryId }) => { made.push(deliveryId) }, 10)
  await eventually(async () => await countJobs() === 0)
  t.equal(made.length, 46)
  t.equal(new Set(made).size, 46)
  await queue.stopWork(1_000, () => {})
})

t.test('what fails of a job is told by its name, and the rest is done', async (t) => {
  const queue = await open(t)
  const made: string[] = []
  queue.work(async ({ deliveryId }) => {
    if (deliveryId === 'b-1') throw new Error('spoilt')
    made.push(deliveryId)
  }, 10)
  await queue.add(attempts('b', 4))
  await eventually(() => made.length === 3)
  await eventually(() => log.lines.some(({ details }) => 'job' in details && details.job === 'b-1-1-1'))
  await eventually(async () => await countJobs() === 0)
  await queue.stopWork(1_000, () => {})
})

t.test('a worker makes as many attempts at a time as it may, and leaves the others to another one', async (t) => {
  const [busy, idle] = [await open(t), await open(t)]
  const [ofBusy, ofIdle]: Array<Set<string>> = [new Set(), new Set()]
  let release = () => {}
  const released = new Promise<void>((resolve) => { release = resolve })
  await busy.add(attempts('c', 100))
  busy.work(async ({ deliveryId }) => {
    ofBusy?.add(deliveryId)
    await released
  }, 2)
  await eventually(() => ofBusy?.size === 2)
  idle.work(async ({ deliveryId }) => { ofIdle?.add(deliveryId) }, 50)
  await eventually(() => Number(ofIdle?.size) >= 60) // the busy one may take a second job while it begins the first
  release()
  await eventually(() => Number(ofBusy?.size) + Number(ofIdle?.size) === 100)
  await Promise.all([busy, idle].map((queue) => queue.stopWork(1_000, () => {})))
})
