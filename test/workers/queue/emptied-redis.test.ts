// A Redis that was emptied while it had jobs.
import t from 'tap'
import { eventually } from '../../support/eventually.js'
import { noRedis, scratchRedis } from '../../support/back-ends/redis.js'
import { keepingLog, scratchLedger } from '../../support/postgres/ledger.js'
import { openQueue } from '../../../workers/queue/queue.js'

t.test('an assistant whose job was lost while it ran is free again', { skip: noRedis() }, async (t) => {
  const [redis, ledger] = [await scratchRedis(t), await scratchLedger(t)]
  const queue = await openQueue({ ...ledger, redisUrl: redis.url, log: keepingLog() })
  t.teardown(() => queue.close())
  const [taken, ended]: [string[], string[]] = [[], []]
  queue.work(async (id) => {
    taken.push(id)
    if (taken.length === 1) await redis.flush()
  }, 1, (id) => { ended.push(id) })
  t.teardown(() => queue.stopWork())
  await queue.add(['7'])
  await eventually(() => ended.length === 1)
  await queue.add(['7'])
  await eventually(() => ended.length === 2)
  t.same([taken, ended], [['7', '7'], ['7', '7']])
})
