// Work of operators on large events and rows, in a process with a small heap. It prints what came of it.
import { assistants } from '../../../projections/assistants.js'
import { leads } from '../../../projections/leads.js'
import { retryStream } from '../../../projections/engine/reproject.js'
import { verify } from '../../../projections/engine/replay.js'
import { EventStoreConnection } from '../../../src/log/connection.js'
import { EventLog } from '../../../src/log/event-log.js'
import { openPool } from '../../../src/postgres/pool.js'
import { dispatching } from '../../../workers/dispatch/dispatch.js'
import { DispatchEffects } from '../../../workers/dispatch/effects.js'

process.stdin.resume().on('close', () => process.exit()) // the test is gone
const [databaseUrl = '', eventStoreUrl = '', work = '', stream = ''] = process.argv.slice(2)
const pool = openPool(databaseUrl, { applicationName: 'small-heap-main', onError: () => {} })
const streams = new EventLog(new EventStoreConnection(eventStoreUrl))
const { signal } = new AbortController()
const log = { debug () {}, info () {}, warn () {}, error () {} }
const works = {
  retry: () => retryStream({ pool, streams }, assistants, stream),
  'retry-dispatcher': () => retryStream({ pool, streams }, dispatching(new DispatchEffects()), stream),
  verify: () => verify(leads, { pool, consumerPool: pool, streams, holder: 'verification', signal, log })
}
process.stdout.write(`${JSON.stringify(await works[work as keyof typeof works]())}\n`)
process.exit()
