// Measures the embedded event store beside its own limits, in one run: `npm run bench -- event-store`.
import { parseArgs } from 'node:util'
import Table from 'cli-table3'
import { EventStoreDBClient } from '@eventstore/db-client'
import { processModule } from '@ringledger/embedded-event-store/child'
import { appends } from './event-store/callers.js'
import { crowd, fill, latencies, type Rate, reads } from './event-store/load.js'
import { cursor, inserts } from './event-store/raw.js'
import { type BenchServer, startServer, temporaryPostgres } from './support/back-ends.js'
import { median, percentile, whole } from './support/statistics.js'

const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '4' },
    'in-flight': { type: 'string', default: '1,32,256' },
    events: { type: 'string', default: '100000' },
    crowd: { type: 'string', default: '10000' },
    json: { type: 'boolean', default: false }
  }
})
const rounds = Number(options.rounds)
const seconds = Number(options.seconds)
const inFlight = options['in-flight'].split(',').map(Number)
const readCount = Number(options.events)
const crowdEvents = Number(options.crowd)

const say = (line: string) => process.stderr.write(`${line}\n`)

const { dir, postgres, close } = await temporaryPostgres()
try {
  await byItself()
} finally {
  await close()
}

async function byItself (): Promise<void> {
  const sql = await startServer({ module: processModule, env: { DATABASE_URL: postgres.url } }, dir)
  const memory = await startServer({ module: new URL('./event-store/memory-server.js', import.meta.url) }, dir)
  try {
    report(await measure(sql, memory))
  } finally {
    await Promise.all([sql.close(), memory.close()])
  }
}

type Measured = Awaited<ReturnType<typeof measure>>

async function measure (sql: BenchServer, memory: BenchServer) {
  const clients = {
    sql: EventStoreDBClient.connectionString(sql.url),
    memory: EventStoreDBClient.connectionString(memory.url)
  }
  say(`Filling both with ${readCount} events ...`)
  await Promise.all([fill(clients.sql, readCount), fill(clients.memory, readCount)])
  const noRates = () => ({ sql: [] as Rate[], memory: [] as Rate[], raw: [] as Rate[] })
  const appended = inFlight.map((count) => ({ inFlight: count, ...noRates() }))
  const read = { sql: [] as number[], memory: [] as number[], raw: [] as number[] }
  // One after the other in each round, so that a disturbance of the machine meets all of them.
  for (let round = 1; round <= rounds; round++) {
    for (const each of appended) {
      say(`Round ${round} of ${rounds}: appends, ${each.inFlight} in flight`)
      each.sql.push(await appends(sql.url, each.inFlight, seconds))
      each.memory.push(await appends(memory.url, each.inFlight, seconds))
      each.raw.push(await inserts(postgres.url, each.inFlight, seconds))
    }
    say(`Round ${round} of ${rounds}: reads of $all`)
    read.sql.push(await reads(clients.sql, readCount))
    read.memory.push(await reads(clients.memory, readCount))
    read.raw.push(await cursor(postgres.url, readCount))
  }
  say('From append to subscriber')
  const arrived = await latencies(clients.sql, 1_000)
  const resident = [sql.memory()]
  if (crowdEvents > 0) say('A hundred subscribers, one of them stopped')
  for (let time = 0; time < 2 && crowdEvents > 0; time++) {
    await crowd(clients.sql, 100, crowdEvents)
    resident.push(sql.memory())
  }
  await Promise.all(Object.values(clients).map((client) => client.dispose()))
  return { appended, read, latency: { p50: percentile(arrived, 0.5), p99: percentile(arrived, 0.99) }, resident }
}

interface Row {
  what: string
  /** Each a second: of the server, of the server on memory, and of Postgres without a server. */
  sql: number
  memory: number
  raw: number
  /** p50 and p99 in milliseconds, of appends. */
  ms?: [number, number]
  rawMs?: [number, number]
}

function report ({ appended, read, latency, resident }: Measured): void {
  const of = (rates: Rate[], key: keyof Rate) => median(rates.map((rate) => rate[key]))
  const rows: Row[] = appended.map((each) => ({
    what: `appends/s, ${each.inFlight} in flight`,
    sql: of(each.sql, 'perSecond'),
    memory: of(each.memory, 'perSecond'),
    raw: of(each.raw, 'perSecond'),
    ms: [of(each.sql, 'p50'), of(each.sql, 'p99')],
    rawMs: [of(each.raw, 'p50'), of(each.raw, 'p99')]
  }))
  rows.push({ what: '$all events/s', sql: median(read.sql), memory: median(read.memory), raw: median(read.raw) })
  if (options.json) return void process.stdout.write(`${JSON.stringify({ rows, latency, resident })}\n`)
  const head = ['', 'on Postgres', 'in memory', 'share', 'p50 / p99 ms', 'raw pg', 'p50 / p99 ms']
  const table = new Table({ head, style: { head: [], border: [] } })
  const both = (ms: readonly number[] = []) => ms.map((each) => each.toFixed(2)).join(' / ')
  for (const { what, sql, memory, raw, ms, rawMs } of rows) {
    table.push([what, whole(sql), whole(memory), `${(sql / memory * 100).toFixed(0)} %`, both(ms), whole(raw), both(rawMs)])
  }
  process.stdout.write(`${table.toString()}
From append to a subscriber of $all: p50 ${latency.p50.toFixed(2)} ms, p99 ${latency.p99.toFixed(2)} ms.
Server memory, and after ${crowdEvents} events to 100 subscribers, one of them stopped, and after as many more: \
${resident.map((size) => size.toFixed(0)).join(', ')} MiB.
`)
}
