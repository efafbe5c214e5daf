// A small worker of the queue for tests that kill or freeze it around a request. It prints each step, and dies at one.
import { writeSync } from 'node:fs'
import { openPool } from '../../../src/postgres/pool.js'
import { deliverer } from '../../../workers/deliver/deliver.js'
import { openEnqueuer } from '../../../workers/queue/enqueue.js'
import { openPoster } from '../../../workers/deliver/post.js'
import { openQueue } from '../../../workers/queue/queue.js'

process.stdin.resume().on('close', () => process.exit()) // the test is gone
const [databaseUrl = '', redisUrl = '', secretKey = '', schedule = '', diesAt = ''] = process.argv.slice(2)
const ignore = () => {}
const log = { info: ignore, warn: ignore }
const rules = { allowHttp: true, allowCidrs: ['127.0.0.0/8'] }
const timeoutMs = 60_000 // nothing may time out while a test freezes it

const pool = openPool(databaseUrl, { applicationName: 'sender-main', onError: ignore })
const queue = await openQueue({ redisUrl: redisUrl || undefined, databaseUrl, pool, log })
const enqueuer = openEnqueuer({ pool, queue, maySend: () => true, log })
const { post, close } = openPoster(rules)
const deliver = deliverer({
  pool,
  enqueuer,
  poster: {
    close,
    async post (message) {
      pass('sends')
      const result = await post(message)
      pass('was answered')
      return result
    }
  },
  keys: { current: Buffer.from(secretKey, 'hex'), previous: [] },
  schedule: schedule.split(',').map(Number),
  timeoutMs,
  rules,
  version: '0.0.0',
  signal: new AbortController().signal,
  log
})
queue.work(async (job) => {
  pass('was woken')
  await deliver(job)
  pass('has recorded')
}, 10)

/** Written at once, as the process may end next. */
function pass (at: string): void {
  writeSync(1, `${JSON.stringify({ at })}\n`)
  if (at === diesAt) process.kill(process.pid, 'SIGKILL')
}
