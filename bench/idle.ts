// Measures what `start` costs while nobody asks for anything: `npm run bench:idle`. Linux only.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import pg from 'pg'
import { prepareDataDir } from '@ringledger/embedded-postgres/data-dir'
import { report, type Idle } from './idle/report.js'
import { childrenOf, cpuMs, shareOf } from './support/processes.js'
import { countStatements } from './support/statements.js'
import { startRole } from './webhooks/service.js'

const { values: options } = parseArgs({
  options: {
    seconds: { type: 'string', default: '60' },
    settle: { type: 'string', default: '90' },
    json: { type: 'boolean', default: false }
  }
})
const seconds = Number(options.seconds)

const dir = prepareDataDir(mkdtempSync(join(tmpdir(), 'ringledger-bench-')))
const unset = { DATABASE_URL: '', EVENTSTORE_URL: '', REDIS_URL: '', JWT_SECRET: '', JWT_JWKS_URL: '' }
const service = await startRole('start', {
  ...unset, npm_lifecycle_event: 'bench', DATA_DIR: dir, PORT: '0', EMBEDDED_EVENTSTORE_PORT: '0', LOG_LEVEL: 'warn'
})
try {
  await delay(1_000 * Number(options.settle)) // V8 compiles and gives memory back for a minute after a start
  report(await measure(), options.json)
} finally {
  await service.stop()
  rmSync(dir, { recursive: true, force: true })
}

async function measure (): Promise<Idle> {
  const { databaseUrl, pids }: { databaseUrl: string, pids: Record<string, number> } =
    JSON.parse(readFileSync(join(dir, 'run.json'), 'utf8'))
  const { postgres = NaN, eventStore = NaN, postgresSupervisor = NaN } = pids
  const processes = () => ({
    service: [service.pid],
    'event store': [eventStore],
    postgres: [postgresSupervisor, postgres, ...childrenOf(postgres)]
  })
  const used = () => mapped(processes(), (pids) => pids.reduce((sum, pid) => sum + cpuMs(pid), 0))
  const [before, from] = [used(), performance.now()]
  await delay(1_000 * seconds)
  const [after, ms] = [used(), performance.now() - from]
  const percent = mapped(after, (cpu, name) => 100 * (cpu - before[name]) / ms)
  const memory = mapped(processes(), shareOf)
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 1 })
  const counted = await countStatements(pool, join(dir, 'postgres.log'), () => delay(1_000 * seconds))
  await pool.end()
  const statements = Object.values(counted).reduce((sum, count) => sum + count, 0) / seconds
  return { percent, memory, statements }
}

function mapped<Name extends string, From, To> (
  from: Record<Name, From>, map: (value: From, name: Name) => To
): Record<Name, To> {
  const entries = Object.entries<From>(from).map(([name, value]) => [name, map(value, name as Name)])
  return Object.fromEntries(entries) as Record<Name, To>
}
