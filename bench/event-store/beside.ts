// Reads of this server beside those of another build of it, in turn, each on a copy of one log.
import { fileURLToPath, pathToFileURL } from 'node:url'
import { EventStoreDBClient } from '@eventstore/db-client'
import Table from 'cli-table3'
import pg from 'pg'
import { processModule } from '@ringledger/embedded-event-store/child'
import { type BenchServer, startServer, type TemporaryPostgres } from '../support/back-ends.js'
import { run } from '../support/run.js'
import { median, whole } from '../support/statistics.js'
import { cpuOf, sessionsOf } from './cpu.js'
import type { Read } from './reader.js'
import { fillVaried } from './varied.js'

export const ways = ['all', 'filtered', 'counted'] as const
const readerAt = fileURLToPath(new URL('./reader.js', import.meta.url))

/** Medians, of one way to read. */
export interface Beside {
  way: typeof ways[number]
  this: Taken
  other: Taken
  /** How many times as many events a second this one sends. Each round is a pair; the median of them. */
  times: number
}

/** Of CPU: microseconds an event. */
export interface Taken { perSecond: number, server: number, postgres: number, client: number }

export interface BesideOptions {
  /** The file of the other build that does what `process.ts` of the package does. */
  other: string
  rounds: number
  count: number
}

interface Side { server: BenchServer, databaseUrl: string }

/** `all` and `filtered` by the official client, `counted` by a client that decodes nothing. */
export async function beside ({ dir, postgres }: TemporaryPostgres, options: BesideOptions): Promise<Beside[]> {
  const { other, rounds, count } = options
  await filled(postgres.url, dir, count)
  const copied = await copyOf(postgres.url)
  const sides = {
    this: await side(processModule, postgres.url, dir),
    other: await side(pathToFileURL(other), copied, dir)
  }
  const measured = ways.map((way) => ({ way, this: [] as Taken[], other: [] as Taken[] }))
  for (let round = 0; round < rounds; round++) {
    for (const each of measured) {
      const order = round % 2 === 0 ? ['this', 'other'] as const : ['other', 'this'] as const
      for (const name of order) each[name].push(await taken(sides[name], each.way, count))
    }
  }
  await Promise.all([sides.this.server.close(), sides.other.server.close()])
  return measured.map(({ way, ...each }) => {
    const times = median(each.this.map(({ perSecond }, round) => perSecond / (each.other[round]?.perSecond ?? NaN)))
    return { way, this: medians(each.this), other: medians(each.other), times }
  })
}

async function filled (databaseUrl: string, dir: string, count: number): Promise<void> {
  const server = await startServer({ module: processModule, env: { DATABASE_URL: databaseUrl } }, dir)
  const client = EventStoreDBClient.connectionString(server.url)
  await fillVaried(client, count)
  await client.dispose()
  await server.close()
}

/** Nothing is connected to the database that is copied. */
async function copyOf (databaseUrl: string): Promise<string> {
  const [name, admin, copy] = [new URL(databaseUrl).pathname.slice(1), new URL(databaseUrl), new URL(databaseUrl)]
  admin.pathname = '/template1'
  copy.pathname = '/copied'
  const client = new pg.Client({ connectionString: admin.href })
  await client.connect()
  await client.query(`create database copied template ${pg.escapeIdentifier(name)}`)
  await client.end()
  for (const connectionString of [databaseUrl, copy.href]) {
    const each = new pg.Client({ connectionString })
    await each.connect()
    await each.query('vacuum analyze')
    await each.end()
  }
  return copy.href
}

async function side (module: URL, databaseUrl: string, dir: string): Promise<Side> {
  return { server: await startServer({ module, env: { DATABASE_URL: databaseUrl } }, dir), databaseUrl }
}

async function taken ({ server, databaseUrl }: Side, way: Beside['way'], count: number): Promise<Taken> {
  const expected = way === 'filtered' ? count / 2 : count
  const [server0, postgres0] = [cpuOf(server.pid), await sessionsOf(databaseUrl)]
  const { stdout } = await run([readerAt, server.url, way, String(expected)])
  const { seconds, cpu }: Read = JSON.parse(stdout)
  const postgres = await sessionsOf(databaseUrl)
  const each = 1e6 / count
  return {
    perSecond: count / seconds,
    server: (cpuOf(server.pid) - server0) * each,
    postgres: [...postgres].reduce((sum, [pid, used]) => sum + used - (postgres0.get(pid) ?? 0), 0) * each,
    client: cpu * each
  }
}

function medians (taken: readonly Taken[]): Taken {
  const of = (key: keyof Taken) => median(taken.map((each) => each[key]))
  return { perSecond: of('perSecond'), server: of('server'), postgres: of('postgres'), client: of('client') }
}

export function reportBeside (measured: readonly Beside[], asJson: boolean): void {
  if (asJson) return void process.stdout.write(`${JSON.stringify(measured)}\n`)
  const head = ['', 'events/s', 'other', 'times', 'server µs', 'other', 'Postgres µs', 'other', 'client µs']
  const table = new Table({ head, style: { head: [], border: [] } })
  for (const { way, this: own, other, times } of measured) {
    const micros = [own.server, other.server, own.postgres, other.postgres, own.client].map((each) => each.toFixed(1))
    table.push([way, whole(own.perSecond), whole(other.perSecond), times.toFixed(2), ...micros])
  }
  process.stdout.write(`${table.toString()}\n`)
}
