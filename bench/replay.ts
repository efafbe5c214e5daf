// Measures a replay beside its own limits, and how late readers are, in one run: `npm run bench:replay`.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import pg from 'pg'
import { processModule } from '@ringledger/embedded-event-store/child'
import { listenForPositions } from '../projections/engine/positions/positions.js'
import type { Projection } from '../projections/folding/projection.js'
import { projections } from '../projections/index.js'
import { EventStoreConnection } from '../src/event-store/connection/connection.js'
import { openStreams } from '../src/event-store/streams.js'
import { copyRows } from './replay/copy.js'
import { fill } from './replay/fill.js'
import { history } from './replay/history.js'
import { liveLag } from './replay/lag.js'
import { report, type Drained, type Replayed } from './replay/report.js'
import { startServer, temporaryPostgres } from './support/back-ends.js'
import { environmentOf } from './support/environment.js'
import { ringledger, run } from './support/run.js'
import { perSecond } from './support/statistics.js'
import { openNotifications } from '../src/postgres/notifications/notifications.js'

const { values: options } = parseArgs({
  options: {
    events: { type: 'string', default: '1000000' },
    projections: { type: 'string', default: projections.map(({ name }) => name).join(',') },
    writes: { type: 'string', default: '500' },
    seconds: { type: 'string', default: '10' },
    seed: { type: 'string', default: '1' },
    json: { type: 'boolean', default: false }
  }
})
const eventually = 3_600_000
const drain = (...eventTypes: string[]) => [fileURLToPath(new URL('./replay/drain.js', import.meta.url)), ...eventTypes]

const say = (line: string) => process.stderr.write(`${line}\n`)
const chosen = options.projections.split(',').map((name) => {
  const projection = projections.find((known) => known.name === name)
  if (!projection) throw new Error(`there is no projection ${name}`)
  return projection
})

const { dir, postgres, close } = await temporaryPostgres()
try {
  say(`Making up ${options.events} events ...`)
  const filled = await fill(postgres.url, history({ events: Number(options.events), seed: Number(options.seed) }))
  say(`${perSecond(filled.events, filled.seconds)} events/s written, ${(filled.bytes / 2 ** 20).toFixed(0)} MiB`)
  const eventStore = await startServer({ module: processModule, env: { DATABASE_URL: postgres.url } }, dir)
  try {
    report({ filled, ...await measure(eventStore.url) }, options.json)
  } finally {
    await eventStore.close()
  }
} finally {
  await close()
}

async function measure (eventStoreUrl: string) {
  const env = environmentOf({ dir, databaseUrl: postgres.url, eventStoreUrl })
  await run(ringledger('migrate'), env)
  const pool = new pg.Pool({ connectionString: postgres.url })
  const connection = new EventStoreConnection(eventStoreUrl)
  const streams = openStreams(connection)
  const notifications = openNotifications({ databaseUrl: postgres.url, onError: () => {} })
  const positions = listenForPositions(notifications, pool, () => {})
  const projector = spawn(process.execPath, ringledger('projector'), {
    env: { ...process.env, RINGLEDGER_NO_DOTENV: '1', ...env },
    stdio: ['ignore', 'ignore', 'inherit']
  })
  try {
    say('The projector catches up from the beginning ...')
    const startedAt = performance.now()
    await once(projector, 'spawn')
    const head = await streams.head()
    await ready(pool)
    for (const { name } of projections) {
      if (!await positions.reached(name, head, eventually)) throw new Error(`${name} did not catch up`)
    }
    const caughtUp = (performance.now() - startedAt) / 1_000
    await pool.query('vacuum analyze')
    const replayed: Replayed[] = []
    for (const projection of chosen) replayed.push(await replay(projection, env, pool))
    say(`${options.writes} writes a second for ${options.seconds} s ...`)
    const lag = await liveLag(streams, positions, Number(options.writes), Number(options.seconds))
    return { caughtUp, replayed, lag }
  } finally {
    const ended = once(projector, 'exit')
    if (projector.exitCode === null && projector.kill('SIGTERM')) await ended
    positions.close()
    await notifications.close()
    await connection.close()
    await pool.end()
  }
}

/** Until the projector has made the read models. */
async function ready (pool: pg.Pool): Promise<void> {
  for (;;) {
    const { rows: [found] } = await pool.query<{ there: boolean }>(
      "select to_regclass('read_model.catalog_checkpoint') is not null as there")
    if (found?.there) return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

async function replay (projection: Projection, env: Record<string, string>, pool: pg.Pool): Promise<Replayed> {
  const { name, eventTypes } = projection
  say(`Draining, replaying and copying ${name} ...`)
  const drained: Drained = JSON.parse((await run(drain(...eventTypes), env)).stdout)
  const { seconds, peak, cpu } = await run(ringledger('projections', 'replay', name), env)
  const copied = await copyRows(pool, projection)
  await run(ringledger('projections', 'drop', name), env) // or the projector would go on feeding two generations
  return { name, drained, seconds, peak, cpu, copied }
}
