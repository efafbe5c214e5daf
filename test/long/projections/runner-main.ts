// A small projector for tests that kill or freeze it between two statements. It prints each statement or stops at one.
import { writeSync } from 'node:fs'
import { assistants } from '../../../projections/assistants.js'
import { generationConsumer } from '../../../projections/engine/feed.js'
import { runSubscription } from '../../../src/subscriptions/run.js'
import { EventStoreConnection } from '../../../src/log/connection.js'
import { EventLog } from '../../../src/log/event-log.js'
import { openPool } from '../../../src/postgres/pool.js'
import { beforeNth, watchedPool } from '../../support/postgres/statements.js'

const { databaseUrl, eventStoreUrl, signal, at, nth } = JSON.parse(process.argv[2] ?? '{}')
const signalSelf = beforeNth(new RegExp(at), nth, (statement) => {
  say({ at: statement })
  process.kill(process.pid, signal)
})

const pool = openPool(databaseUrl, { applicationName: 'runner-main', stalledAfterMs: 3_000, onError: () => {} })
const tell = ({ err }: { err?: Error }, message: string) => say({ message, error: err?.name, reason: err?.message })
const watching = {
  before: (statement: string) => signal === undefined ? say({ sends: statement }) : signalSelf(statement),
  after (statement: string) {
    if (/^UPDATE \S+\.checkpoint SET epoch/.test(statement)) say({ message: 'owns' })
  }
}
await runSubscription(generationConsumer(assistants, 1, watchedPool(pool, watching)), {
  pool: watchedPool(pool, watching),
  streams: new EventLog(new EventStoreConnection(eventStoreUrl)),
  holder: `runner-main ${process.pid}`,
  signal: new AbortController().signal,
  log: { debug: () => {}, info: tell, warn: tell, error: tell }
})

/** Written at once, as the process may end next. */
function say (message: object): void {
  writeSync(1, `${JSON.stringify(message)}\n`)
}
