// What the drill is asked to do.
import { parseArgs } from 'node:util'

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

export const usage = 'npm run drill -- --eventstore URL --database URL [--redis URL] [--minutes 5] [--pause SECONDS] [--json FILE]'

/** @throws when something is missing or odd, with how it is used */
export function drillOptions (args: readonly string[]): DrillOptions {
  const text = { type: 'string' } as const
  const { values } = parseArgs({
    args: [...args],
    options: { eventstore: text, database: text, redis: text, minutes: text, pause: text, json: text }
  })
  const { eventstore, database, redis, json } = values
  if (!eventstore || !database) throw new Error(`--eventstore and --database are needed: ${usage}`)
  const minutes = aboveZero('--minutes', values.minutes) ?? 5
  return { eventstore, database, redis, minutes, pause: aboveZero('--pause', values.pause), json }
}

function aboveZero (name: string, value: string | undefined): number | undefined {
  if (value !== undefined && !(Number(value) > 0)) throw new Error(`${name} must be a number above 0: ${usage}`)
  return value === undefined ? undefined : Number(value)
}
