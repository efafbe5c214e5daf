// What the drill is asked to do.
import { parseArgs } from 'node:util'
import { withCaFile, eventStoreProblems } from '../../src/log/client-url.js'

/** The person's own servers, all empty. */
export interface Servers {
  eventstore: string
  database: string
  /** Without it, deliveries are queued in Postgres. */
  redis: string | undefined
}

export interface DrillOptions extends Servers {
  /** Of load, half before the pause and half after it. */
  minutes: number
  /** How long nodes may be killed, in seconds; without it until somebody presses Enter. */
  pause: number | undefined
  /** Where the report is written as JSON. */
  json: string | undefined
}

export const usage = 'node dist/bench/drill.js --eventstore URL --database URL [--redis URL] [--minutes 5] [--pause SECONDS] [--json FILE]'

/** @throws when something is missing or odd, with how it is used */
export function drillOptions (args: readonly string[]): DrillOptions {
  const text = { type: 'string' } as const
  const { values } = parseArgs({
    args: [...args],
    options: { eventstore: text, database: text, redis: text, minutes: text, pause: text, json: text }
  })
  const { eventstore, database, redis, json } = values
  if (!eventstore || !database) throw new Error(`--eventstore and --database are needed: ${usage}`)
  refuseOddUrl(eventstore)
  const minutes = aboveZero('--minutes', values.minutes) ?? 5
  const pause = aboveZero('--pause', values.pause)
  return { eventstore: withCaFile(eventstore, process.env.EVENTSTORE_CA_FILE), database, redis, minutes, pause, json }
}

/** Before the client sees it, which would print its password. */
function refuseOddUrl (url: string): void {
  const isOne = /^(esdb|kurrentdb)(\+discover)?:\/\/./.test(url)
  if (!isOne) throw new Error('--eventstore must begin with esdb://')
  const settings = { EVENTSTORE_URL: url, EVENTSTORE_CA_FILE: process.env.EVENTSTORE_CA_FILE }
  const [problem] = eventStoreProblems(settings, { url: '--eventstore', caFile: 'EVENTSTORE_CA_FILE' })
  if (problem !== undefined) throw new Error(`${problem.field} ${problem.message}`)
}

function aboveZero (name: string, value: string | undefined): number | undefined {
  if (value !== undefined && !(Number(value) > 0)) throw new Error(`${name} must be a number above 0: ${usage}`)
  return value === undefined ? undefined : Number(value)
}
