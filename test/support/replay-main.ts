// A replay as a process of its own, for tests that kill it when it is at a point for the nth time.
import { EventStoreDBClient } from '@eventstore/db-client'
import { leads } from '../../projections/leads.js'
import { replay } from '../../projections/replay/replay.js'
import { faults } from '../../src/consumer/faults.js'
import { openStreams } from '../../src/event-store/streams.js'
import { openPool } from '../../src/postgres/pool.js'

const [databaseUrl = '', eventStoreUrl = '', at = '', nth = '1'] = process.argv.slice(2)
let left = Number(nth)
faults.at = (point) => { if (point === at && --left === 0) process.kill(process.pid, 'SIGKILL') }

const pool = openPool(databaseUrl, { applicationName: 'replay-main', onError: () => {} })
const ignore = () => {}
await replay(leads, {
  pool,
  consumerPool: pool,
  streams: openStreams(EventStoreDBClient.connectionString(eventStoreUrl)),
  holder: `replay-main ${process.pid}`,
  signal: new AbortController().signal,
  log: { debug: ignore, info: ignore, warn: ignore, error: ignore },
  limits: { events: 20 }
})
process.exit()
