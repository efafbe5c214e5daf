// Works on an erasure as a worker does, counts what it does to the outside, and is killed at one of these points.
import { writeSync } from 'node:fs'
import { pino } from 'pino'
import { openConnections } from '../../../src/services/connections.js'
import { configOf } from '../../support/service.js'
import { workOn } from '../../support/persons/erasing.js'

process.stdin.resume().on('close', () => process.exit()) // the test is gone
const [databaseUrl = '', eventStoreUrl = '', id = '', diesAt = '0'] = process.argv.slice(2)
const log = pino({ level: process.env.ERASING_LOG ?? 'warn' }, pino.destination(2))
const config = configOf({})
const connections = await openConnections({ databaseUrl, eventStoreUrl }, config, log)

let count = 0
/** Written at once, as the process may end next. */
function pass (at: string): void {
  count += 1
  writeSync(1, `${JSON.stringify({ count, at })}\n`)
  if (count === Number(diesAt)) process.kill(process.pid, 'SIGKILL')
}

await workOn({ connections, log, pass }, id)
process.exit()
