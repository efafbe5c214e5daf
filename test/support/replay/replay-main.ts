// A replay, rollback, drop or projector as a process, for tests that kill or freeze it between two statements.
import { writeSync } from 'node:fs'
import { feedGenerations } from '../../../projections/engine/feed.js'
import { leads } from '../../../projections/leads.js'
import { drop, rollback, replay } from '../../../projections/engine/operations.js'
import type { BuildOptions } from '../../../projections/engine/replay.js'
import { EventStoreConnection } from '../../../src/log/connection.js'
import { EventLog } from '../../../src/log/event-log.js'
import { openPool } from '../../../src/postgres/pool.js'
import { beforeNth, watchedPool } from '../postgres/statements.js'

const { databaseUrl, eventStoreUrl, command, signal, at, nth, checkEveryMs } = JSON.parse(process.argv[2] ?? '{}')
const say = (line: string) => writeSync(1, `${JSON.stringify(line)}\n`) // at once: it may be killed next
const signalSelf = beforeNth(new RegExp(at), nth, (statement) => {
  say(statement)
  process.kill(process.pid, signal)
})
const before = (statement: string) => signal === undefined ? say(statement) : signalSelf(statement)

const ignore = () => {}
const open = (applicationName: string, stalledAfterMs: number) =>
  watchedPool(openPool(databaseUrl, { applicationName, stalledAfterMs, onError: ignore }), { before })
const options: BuildOptions = {
  pool: open('replay-main', 0),
  consumerPool: open('replay-main consumer', 1_000),
  streams: new EventLog(new EventStoreConnection(eventStoreUrl), { shared: { eventTypes: leads.eventTypes } }),
  holder: `replay-main ${process.pid}`,
  signal: new AbortController().signal,
  log: { debug: ignore, info: ignore, warn: ignore, error: ignore },
  limits: { events: 20 },
  checkEveryMs
}
const commands: Record<string, () => Promise<unknown>> = {
  replay: () => replay(leads, options),
  rollback: () => rollback(leads, options),
  drop: () => drop(leads, undefined, options),
  project: () => feedGenerations([leads], { ...options, pool: options.consumerPool })
}
await commands[command]?.().catch((error: Error) => {
  say(`${error.name}: ${error.message}`)
  process.exit(1)
})
process.exit()
