// `ringledger projections quarantine`: shows, retries and skips events that a projection cannot handle.
import { projections } from '../../projections/index.js'
import { projectionNamed } from '../../projections/engine/operations.js'
import { openBreakers } from '../../projections/engine/circuit-breaker.js'
import {
  dispatcher, parkedEvent, parkedStreams, skippedEvents, type ParkedStream
} from '../../projections/engine/parked.js'
import { closeBreaker, retryParked, skipParked } from '../ops/parked.js'
import type { Connections } from '../services/connections.js'
import type { StoredEvent } from '../domain/stored-event.js'
import { answer, print, printJson, say, tableOf } from './output.js'
import { withConnections } from './running.js'

/** Limit of the table; JSON has all of them. */
const longestList = 100

/** Lists parked and skipped events, and open circuit breakers. */
export async function list (name: string | undefined, { json }: { json?: boolean }): Promise<void> {
  const listed = name === undefined ? projections : name === dispatcher ? [] : [projectionNamed(name)]
  const names = name === undefined ? [...projections.map((each) => each.name), dispatcher] : [name]
  const found = await withConnections('ringledger projections quarantine list', async ({ pool }) => ({
    parked: await parkedStreams(pool, names),
    breakers: await openBreakers(pool, listed),
    skipped: await skippedEvents(pool, names)
  }))
  if (json) return printJson(found)
  await printParked(found.parked)
  for (const { projection, generation, streams, since, error } of found.breakers) {
    say(`${projection} (generation ${generation}) stands since ${since}, ` +
      `as it refused ${streams} streams within a minute: ${error}`)
  }
  if (found.skipped.length > 0) say(`${found.skipped.length} events are skipped for good: --json has them`)
}

async function printParked (parked: ParkedStream[]): Promise<void> {
  if (parked.length === 0) return print('Nothing is parked.\n')
  const head = ['projection', 'generation', 'stream', 'revision', 'events', 'since', 'error']
  const rows = parked.slice(0, longestList).map(({ projection, generation, stream, revision, events, since, error }) =>
    [projection, generation ?? '', stream, revision, events, since, error])
  print(await tableOf(rows, head))
  if (parked.length > longestList) say(`and ${parked.length - longestList} more streams: --json has all of them`)
}

/** Shows a parked event as the log has it, with personal data, and its error. */
export async function show (
  name: string, stream: string, revision: bigint | undefined, { json }: { json?: boolean }
): Promise<void> {
  const { generation, parked, error, event, ...row } = await withConnections('ringledger projections quarantine show',
    (connections) => {
      const projection = name === dispatcher ? undefined : projectionNamed(name)
      return parkedEvent(connections, projection, stream, revision)
    })
  const [since, at] = [row.since.toISOString(), String(row.revision)]
  const inLog = event && printableEvent(event)
  const found = { projection: name, generation, stream, revision: at, parked, since, error, event: inLog ?? null }
  if (json) return printJson(found)
  say(`${name}${generation === null ? '' : ` (generation ${generation})`} has parked ${parked} events of ${stream} since ${since}. ` +
    `${stream}@${at}: ${error}`)
  if (inLog) printJson(inLog)
  else say('The log does not have this event any more.')
}

function printableEvent ({ revision, position, data, ...event }: StoredEvent) {
  const readable = data instanceof Uint8Array ? { base64: Buffer.from(data).toString('base64') } : data // not JSON
  return { ...event, revision: String(revision), position: String(position), data: readable }
}

export async function retry (projection: string, stream: string, { json }: { json?: boolean }): Promise<void> {
  await act({ action: 'retry', projection, stream }, json, (connections) => retryParked(connections, projection, stream))
}

export async function skip (
  projection: string, stream: string, revision: bigint, { reason, json }: { reason: string, json?: boolean }
): Promise<void> {
  await act({ action: 'skip', projection, stream, revision: String(revision) }, json, (connections) =>
    skipParked(connections, projection, stream, revision, reason))
}

export async function resume (name: string, { json }: { json?: boolean }): Promise<void> {
  const projection = projectionNamed(name)
  await act({ action: 'resume', projection: name }, json, (connections) => closeBreaker(connections, projection))
}

/** JSON has the same form as for actions on a projection. Failures go to stderr only. */
async function act (
  done: { action: string, projection: string, stream?: string, revision?: string }, json: boolean | undefined,
  work: (connections: Connections) => Promise<string>
): Promise<void> {
  const message = await withConnections(`ringledger projections quarantine ${done.action}`, work)
  answer(json, { ...done, state: 'done', message }, message)
}
