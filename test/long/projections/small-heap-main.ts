// A verification of leads, in a process with a small heap. It prints what came of it.
import { leads } from '../../../projections/leads.js'
import { verify } from '../../../projections/engine/replay.js'
import { EventStoreConnection } from '../../../src/log/connection.js'
import { EventLog } from '../../../src/log/event-log.js'
import { openPool } from '../../../src/postgres/pool.js'

process.stdin.resume().on('close', () => process.exit()) // the test is gone
const [databaseUrl = '', eventStoreUrl = ''] = process.argv.slice(2)
const pool = openPool(databaseUrl, { applicationName: 'small-heap-main', onError: () => {} })
const streams = new EventLog(new EventStoreConnection(eventStoreUrl))
const { signal } = new AbortController()
const log = { debug () {}, info () {}, warn () {}, error () {} }
const verified = await verify(leads, { pool, consumerPool: pool, streams, holder: 'verification', signal, log })
process.stdout.write(`${JSON.stringify(verified)}\n`)
process.exit()
