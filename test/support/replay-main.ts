// A replay, rollback or drop as a process of its own, for tests that kill or freeze it when it is at a point for the nth time.
import { writeSync } from 'node:fs'
import { EventStoreDBClient } from '@eventstore/db-client'
import { leads } from '../../projections/leads.js'
import { drop } from '../../projections/replay/drop.js'
import type { BuildOptions } from '../../projections/replay/build.js'
import { replay } from '../../projections/replay/replay.js'
import { rollback } from '../../projections/replay/rollback.js'
import { faults } from '../../src/subscriptions/faults.js'
import { openStreams } from '../../src/event-store/streams.js'
import { openPool } from '../../src/postgres/pool.js'

const [databaseUrl = '', eventStoreUrl = '', command = 'replay', signal = 'SIGKILL', at = '', nth = '1'] = process.argv.slice(2)
let left = Number(nth)
const say = (line: string) => writeSync(1, `${JSON.stringify(line)}\n`) // at once: it may be killed next
faults.at = (point) => {
  if (point !== at || --left !== 0) return
  say(at)
  process.kill(process.pid, signal)
}

const ignore = () => {}
const options: BuildOptions = {
  pool: openPool(databaseUrl, { applicationName: 'replay-main', onError: ignore }),
  consumerPool: openPool(databaseUrl, { applicationName: 'replay-main consumer', stalledAfterMs: 3_000, onError: ignore }),
  streams: openStreams(EventStoreDBClient.connectionString(eventStoreUrl)),
  holder: `replay-main ${process.pid}`,
  signal: new AbortController().signal,
  log: { debug: ignore, info: ignore, warn: ignore, error: ignore },
  limits: { events: 20 }
}
const commands: Record<string, () => Promise<unknown>> = { replay: () => replay(leads, options), rollback: () => rollback(leads, options), drop: () => drop(leads, undefined, options) }
await commands[command]?.().catch((error: Error) => {
  say(`${error.name}: ${error.message}`)
  process.exit(1)
})
process.exit()
