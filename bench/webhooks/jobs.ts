// The limit of BullMQ: a process that works off a full queue of empty jobs. In: count, concurrency. Out: JSON.
import { parseArgs } from 'node:util'
import pg from 'pg'
import { random } from '../support/random.js'
import { openQueue } from '../../workers/queue/queue.js'
import { perSecond } from './rate.js'

const [count, concurrency] = parseArgs({ allowPositionals: true }).positionals.map(Number)
const { DATABASE_URL: databaseUrl = '', REDIS_URL: redisUrl = '' } = process.env
const pool = new pg.Pool({ connectionString: databaseUrl })
const log = { warn: (details: object, message: string) => console.error(message, details) }
const queue = await openQueue({ pool, databaseUrl, ...(redisUrl && { redisUrl }), log })
const chance = random(1)
const jobs = Array.from({ length: Number(count) }, () => ({ deliveryId: chance.uuid(), n: 1, jobNumber: 1 }))
for (let from = 0; from < jobs.length; from += 500) await queue.add(jobs.slice(from, from + 500))

const times: number[] = []
await new Promise<void>((resolve) => {
  queue.work(async () => { if (times.push(performance.now()) === jobs.length) resolve() }, Number(concurrency))
})
await queue.stopWork(5_000, () => {})
await queue.close()
await pool.end()
process.stdout.write(JSON.stringify({ perSecond: perSecond(times) }))
