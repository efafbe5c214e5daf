// Measures calls, from their report over HTTP to the receiver of their webhook: `npm run bench:calls`.
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import pg from 'pg'
import { processModule } from '@ringledger/embedded-event-store/child'
import { signToken } from '../src/cli/running/sign-token.js'
import { reportCalls, type Pace, type Scene } from './calls/load.js'
import { besideHanging, createAll, hanging } from './calls/receivers.js'
import { report, type Measured } from './calls/report.js'
import { asRole, countStatements } from './support/statements.js'
import { startServer, temporaryPostgres } from './support/back-ends.js'
import { environmentOf } from './support/environment.js'
import { random } from './support/random.js'
import { temporaryRedis, type BenchRedis } from './support/redis.js'
import { ringledger, run, type Environment } from './support/run.js'
import { userCount } from './webhooks/calls.js'
import { ownCertificate } from './webhooks/certificate.js'
import { openArrivals } from './webhooks/idle.js'
import { startRole, type Command, type Running } from './webhooks/service.js'
import { openSilent } from './webhooks/silent.js'

const { values: options } = parseArgs({
  allowNegative: true,
  options: {
    seconds: { type: 'string', default: '20' },
    warm: { type: 'string', default: '20' }, // seconds at the top before
    rates: { type: 'string', default: '20,100,300' },
    'in-flight': { type: 'string', default: '64' },
    queues: { type: 'string', default: 'Postgres,Redis' },
    hanging: { type: 'boolean', default: true },
    https: { type: 'boolean', default: false },
    processes: { type: 'string', default: 'apart,one' }, // each role in its own, or all of them in one
    statements: { type: 'boolean', default: true },
    seed: { type: 'string', default: '1' },
    profile: { type: 'string' }, // a folder for the CPU profiles of the roles
    json: { type: 'boolean', default: false }
  }
})
const seconds = Number(options.seconds)
const atOnce = Number(options['in-flight'])
const chance = random(Number(options.seed))

const say = (line: string) => process.stderr.write(`${line}\n`)

const { dir, postgres, close } = await temporaryPostgres()
const isChosen = (queue: string) => options.queues.split(',').includes(queue)
const redis = isChosen('Redis') ? await temporaryRedis(dir) : undefined
if (isChosen('Redis') && !redis) say('redis-server is not on the PATH: the queue on Redis is left out')
const eventStore = await startServer({ module: processModule, env: { DATABASE_URL: postgres.url } }, dir)
const certificate = options.https ? await ownCertificate(dir) : undefined
const arrivals = await openArrivals(certificate)
const silent = await openSilent()
const all: Measured[] = []
try {
  const env = {
    ...environmentOf({ dir, databaseUrl: postgres.url, eventStoreUrl: eventStore.url }),
    WEBHOOK_ALLOW_HTTP: 'true',
    WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8',
    RATE_LIMIT_PER_MINUTE: '0',
    ...(certificate && { NODE_EXTRA_CA_CERTS: certificate.certFile })
  }
  await run(ringledger('migrate'), env)
  await createAll(eventStore.url, { answering: arrivals.url, silent: silent.url })
  for (const commands of [['projector', 'worker', 'api'], ['start']] as const) {
    if (!options.processes.split(',').includes(commands.length > 1 ? 'apart' : 'one')) continue
    const suffix = commands.length > 1 ? '' : ', all in one process'
    if (isChosen('Postgres')) all.push(await measure(`Postgres${suffix}`, commands, env))
    if (redis) all.push(await measure(`Redis${suffix}`, commands, { ...env, REDIS_URL: redis.url }, redis))
  }
} finally {
  if (all.length > 0) report(all, options.json) // also what was measured before a failure
  silent.close()
  await arrivals.close()
  await eventStore.close()
  await redis?.close()
  await close()
}

async function measure (
  queue: string, commands: readonly Command[], env: Environment, redis?: BenchRedis
): Promise<Measured> {
  const running: Array<[Command, Running]> = []
  for (const command of commands) {
    const url = asRole(env.DATABASE_URL ?? '', command)
    running.push([command, await startRole(command, { ...env, DATABASE_URL: url }, profiled(queue, command))])
  }
  const pids = {
    ...Object.fromEntries(running.map(([command, { pid }]) => [command, pid])),
    'event store': eventStore.pid,
    postgres: postgres.pid,
    ...(redis && { redis: redis.pid })
  }
  const engine = { user: 'engine', role: 'engine', ttl: '2h' }
  const token = await signToken({ secret: env.JWT_SECRET ?? '', roleClaim: 'role' }, engine)
  const scene: Scene = { apiUrl: running.at(-1)?.[1].url ?? '', token, arrivals, pids, chance }
  const answering = (nth: number) => ({ id: 1 + nth % userCount, isAwaited: true })
  const load = async (pace: Pace) => {
    say(`${queue}: ${name(pace)}`)
    return await reportCalls(scene, pace, answering)
  }
  await load({ atOnce, seconds: Number(options.warm) })
  const measured: Measured = { queue, figures: {}, statements: {} }
  for (const rate of options.rates.split(',').filter(Boolean).map(Number)) {
    measured.figures[`${rate}/s`] = await load({ perSecond: rate, seconds })
  }
  measured.figures[`${atOnce} at once`] = await load({ atOnce, seconds })
  if (options.hanging) {
    say(`${queue}: 100/s, ${hanging.hang} of ${hanging.endpoints} receivers hang`)
    measured.figures[`100/s, the others of ${hanging.hang} in ${hanging.endpoints} that hang`] =
      await reportCalls(scene, { perSecond: 100, seconds }, besideHanging)
  }
  if (options.statements) measured.statements = await countStatementsOf(load)
  for (const [, role] of running.reverse()) await role.stop()
  return measured
}

/** Where the CPU of a role goes, to be opened in the developer tools of a browser. */
function profiled (queue: string, role: Command): string[] {
  const { profile } = options
  return profile ? ['--cpu-prof', `--cpu-prof-dir=${profile}`, `--cpu-prof-name=${queue}-${role}.cpuprofile`] : []
}

async function countStatementsOf (load: (pace: Pace) => Promise<{ calls: number }>): Promise<Measured['statements']> {
  const counted: Measured['statements'] = {}
  const pool = new pg.Pool({ connectionString: postgres.url, max: 1 })
  for (const pace of [{ perSecond: 10, seconds: 10 }, { perSecond: 100, seconds: 5 }, { atOnce, seconds: 5 }]) {
    counted[name(pace)] = await statementsOf(pool, () => load(pace))
  }
  await pool.end()
  return counted
}

async function statementsOf (pool: pg.Pool, load: () => Promise<{ calls: number }>) {
  let calls = 0
  const counted = await countStatements(pool, join(dir, 'postgres.log'), async () => { calls = (await load()).calls })
  return Object.fromEntries(Object.entries(counted).map(([consumer, count]) => [consumer, count / calls]))
}

function name ({ perSecond, atOnce }: Pace): string {
  return perSecond === undefined ? `${atOnce} at once` : `${perSecond}/s`
}
