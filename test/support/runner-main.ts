// A projector in small, for tests that kill or freeze it at a point of the runner: says where it is, and then dies or stops there.
import { writeSync } from 'node:fs'
import { EventStoreDBClient } from '@eventstore/db-client'
import { assistants } from '../../projections/assistants.js'
import { generationConsumer } from '../../projections/engine/run.js'
import { faults } from '../../src/subscriptions/faults.js'
import { runSubscription } from '../../src/subscriptions/run.js'
import { openStreams } from '../../src/event-store/streams.js'
import { openPool } from '../../src/postgres/pool.js'

const [databaseUrl = '', eventStoreUrl = '', signal = 'SIGKILL', at = '', nth = '1'] = process.argv.slice(2)
let left = Number(nth)
faults.at = (point) => {
  if (point === 'claimed') say({ message: 'owns' })
  if (point !== at || --left !== 0) return
  say({ at: point })
  process.kill(process.pid, signal)
}

const pool = openPool(databaseUrl, { applicationName: 'runner-main', stalledAfterMs: 3_000, onError: () => {} })
const tell = ({ err }: { err?: Error }, message: string) => say({ message, error: err?.name, reason: err?.message })
await runSubscription(generationConsumer(assistants, 1, pool), {
  pool,
  streams: openStreams(EventStoreDBClient.connectionString(eventStoreUrl)),
  holder: `runner-main ${process.pid}`,
  signal: new AbortController().signal,
  log: { debug: () => {}, info: tell, warn: tell, error: tell }
})

/** At once, as what comes next may be the end. */
function say (message: object): void {
  writeSync(1, `${JSON.stringify(message)}\n`)
}
