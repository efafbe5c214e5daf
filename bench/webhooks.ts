// Measures webhooks beside the limits of BullMQ and of the HTTP client, in one run: `npm run bench:webhooks`.
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import pg from 'pg'
import { processModule } from '@ringledger/embedded-event-store/child'
import { signToken } from '../src/cli/running/sign-token.js'
import type { CallCompleted } from '../src/domain/call/events.js'
import { EventStoreConnection } from '../src/event-store/connection/connection.js'
import { openStreams, type Streams } from '../src/event-store/streams.js'
import { attemptsAtOnce } from '../workers/start.js'
import { startServer, temporaryPostgres } from './support/back-ends.js'
import { environmentOf } from './support/environment.js'
import { random } from './support/random.js'
import { temporaryRedis } from './support/redis.js'
import { ringledger, run, type Environment } from './support/run.js'
import { vacuumTables } from './support/vacuum.js'
import { completeCall, completeCalls, createAssistants, userCount } from './webhooks/calls.js'
import { idleLatency, openArrivals, type Arrivals } from './webhooks/idle.js'
import { measuring, type Arrived, type Measuring } from './webhooks/measuring.js'
import { report, type Idle, type Measured, type Rates } from './webhooks/report.js'
import { startRole } from './webhooks/service.js'

const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
    deliveries: { type: 'string', default: '5000' },
    calls: { type: 'string', default: '200' },
    seed: { type: 'string', default: '1' },
    json: { type: 'boolean', default: false }
  }
})
const rounds = Number(options.rounds)
const deliveries = Number(options.deliveries)
const chance = random(Number(options.seed))
const [busyFrom, idleFrom] = [1, 1 + userCount]

const say = (line: string) => process.stderr.write(`${line}\n`)
/** As receivers have names. */
const byName = (url: string) => url.replace('127.0.0.1', 'localhost')
const scriptAt = (name: string) => fileURLToPath(new URL(`./webhooks/${name}.js`, import.meta.url))
const script = (name: string, ...args: unknown[]) => [scriptAt(name), ...args.map(String)]

const { dir, postgres, close } = await temporaryPostgres()
const redis = await temporaryRedis(dir)
if (!redis) say('redis-server is not on the PATH: the queue on Redis is left out')
try {
  const eventStore = await startServer({ module: processModule, env: { DATABASE_URL: postgres.url } }, dir)
  const receiver = await startServer({ module: new URL('./webhooks/receiver.js', import.meta.url) }, dir)
  const connection = new EventStoreConnection(eventStore.url)
  try {
    const env = {
      ...environmentOf({ dir, databaseUrl: postgres.url, eventStoreUrl: eventStore.url }),
      LOG_LEVEL: 'info',
      WEBHOOK_ALLOW_HTTP: 'true',
      WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8',
      RATE_LIMIT_PER_MINUTE: '0'
    }
    await run(ringledger('migrate'), env)
    report(await measure(openStreams(connection), measuring(`http://127.0.0.1:${receiver.port}`), env), options.json)
  } finally {
    await connection.close()
    await receiver.close()
    await eventStore.close()
  }
} finally {
  await redis?.close()
  await close()
}

async function measure (streams: Streams, receiver: Measuring, env: Environment): Promise<Measured[]> {
  const on = (queue: string, more: Environment = {}) => ({ queue, env: { ...env, ...more }, rates: [] as Rates[] })
  const queues = [on('Postgres'), ...redis ? [on('Redis', { REDIS_URL: redis.url })] : []]
  await createAssistants(streams, byName(receiver.url), busyFrom)
  // One after the other in each round, so that a disturbance of the machine meets all of them.
  for (let round = 1; round <= rounds; round++) {
    for (const { queue, env, rates } of queues) {
      say(`Round ${round} of ${rounds}, ${queue}`)
      const { perSecond: delivered, bytes } = await deliver(streams, receiver, env)
      const { stdout } = await run(script('jobs', deliveries, attemptsAtOnce), env)
      const jobs: { perSecond: number } = JSON.parse(stdout)
      const posting = script('posts', receiver.url, deliveries, Math.round(bytes), attemptsAtOnce)
      const posts = await receiver.during(deliveries, async () => { await run(posting, env) })
      rates.push({ delivered, jobs: jobs.perSecond, posts: posts.perSecond })
    }
  }
  const arrivals = await openArrivals()
  await createAssistants(streams, byName(arrivals.url), idleFrom)
  const measured: Measured[] = []
  for (const { queue, env, rates } of queues) {
    say(`One call at a time, ${queue}`)
    measured.push({ queue, rates, idle: await measureIdle(streams, arrivals, env) })
  }
  await arrivals.close()
  return measured
}

async function measureIdle (streams: Streams, arrivals: Arrivals, env: Environment): Promise<Idle> {
  const worker = await startRole('worker', env)
  const api = await startRole('api', env)
  const engine = { user: 'engine', role: 'engine', ttl: '1h' }
  const token = await signToken({ secret: env.JWT_SECRET ?? '', roleClaim: 'role' }, engine)
  const latency = (report: (call: CallCompleted) => Promise<void>) =>
    idleLatency(arrivals, { assistantId: idleFrom, count: Number(options.calls), chance, report })
  const event = await latency((call) => completeCall(streams, call))
  const http = await latency((call) => post(`${api.url}/engine/calls/${call.call_id}/completed`, token, call))
  await Promise.all([worker.stop(), api.stop()])
  return { event, http }
}

/** Calls that ended while no worker ran, from when the worker comes until the last webhook is there. */
async function deliver (streams: Streams, receiver: Measuring, env: Environment): Promise<Arrived> {
  await completeCalls(streams, chance, deliveries, busyFrom)
  const arrived = await receiver.during(deliveries, async (arrived) => {
    const worker = await startRole('worker', env)
    await arrived
    await worker.stop()
  })
  const pool = new pg.Pool({ connectionString: postgres.url })
  const { rows: [left] } = await pool.query<{ count: string }>(
    "SELECT count(*) FROM ledger.webhook_deliveries WHERE status <> 'delivered' OR attempt_count <> 1")
  await vacuumTables(pool)
  await pool.end()
  if (left?.count !== '0') throw new Error(`${left?.count} deliveries were not delivered by their first attempt`)
  return arrived
}

async function post (url: string, token: string, { call_id, ...body }: CallCompleted): Promise<void> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
  if (answer.status !== 202) {
    throw new Error(`the report of call ${call_id} was answered with ${answer.status}: ${await answer.text()}`)
  }
  await answer.arrayBuffer()
}
