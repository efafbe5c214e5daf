// `ringledger projections quarantine list`, `show`, `retry`, `skip` and `resume`.
import Table from 'cli-table3'
import { brakes, releaseBrakes } from '../../projections/parking/circuit-breaker.js'
import { QuarantineRefused, heldEvent, heldStreams, retryStream, skipEvent, type Reprojected } from '../../projections/parking/parked-events.js'
import type { Projection } from '../../projections/engine/projection.js'
import { skipped } from '../../projections/parking/park.js'
import type { Connections } from '../composition/connections.js'
import { projections } from '../../projections/index.js'
import { say, withConnections } from './running/back-ends.js'

/** Of the table; programs get all of them. */
const longestList = 100

/** What waits, by projection and generation; which brakes are on; what is skipped. */
export async function listQuarantine (name: string | undefined, { json }: { json?: boolean }): Promise<void> {
  const asked = name === undefined ? projections : [projectionNamed(name)]
  const found = await open('list', async ({ pool }) => ({ held: await heldStreams(pool, asked), brakes: await brakes(pool, asked), skips: await skipped(pool, asked) }))
  if (json) return print(found)
  const table = new Table({ head: ['projection', 'generation', 'stream', 'revision', 'events', 'since', 'error'], style: { head: [], border: [] } })
  for (const { projection, generation, stream, revision, events, since, error } of found.held.slice(0, longestList)) table.push([projection, generation, printable(stream), revision, events, since, printable(error)])
  process.stdout.write(found.held.length === 0 ? 'Nothing is in quarantine.\n' : `${table.toString()}\n`)
  if (found.held.length > longestList) say(`and ${found.held.length - longestList} more streams: --json has all of them`)
  for (const { projection, generation, streams, since, error } of found.brakes) say(`${projection} (generation ${generation}) stands since ${since}, as it refused ${streams} streams within a minute: ${printable(error)}`)
  if (found.skips.length > 0) say(`${found.skips.length} events are skipped for good: --json has them`)
}

/** The event as the log has it, personal data and all, and why it waits. */
export async function showHeld (name: string, stream: string, revision: bigint | undefined, { json }: { json?: boolean }): Promise<void> {
  const { generation, held, error, since, event, ...row } = await open('show', (connections) => heldEvent(connections, projectionNamed(name), stream, revision))
  const shown = { projection: name, generation, stream, revision: String(row.revision), held, since: since.toISOString(), error, event: event === undefined ? null : { ...event, revision: String(event.revision), position: String(event.position), data: readable(event.data) } }
  if (json) return print(shown)
  say(`${name} (generation ${generation}) holds ${held} events of ${stream} since ${shown.since}. ${stream}@${shown.revision}: ${printable(error)}`)
  if (shown.event) print(shown.event)
  else say('The log does not have this event any more.')
}

/** Projects what waits of a stream, all of it or nothing. */
export async function retryHeld (name: string, stream: string): Promise<void> {
  const { events, generation } = await open('retry', (connections) => retryStream(connections, projectionNamed(name), stream))
  say(`${events} events of ${stream} went into ${name} (generation ${generation}); nothing of it waits any more.`)
}

/** Gives one event up for good, and goes on with its stream. */
export async function skipHeld (name: string, stream: string, revision: bigint, { reason }: { reason: string }): Promise<void> {
  const outcome = await open('skip', (connections) => skipEvent(connections, projectionNamed(name), stream, revision, reason))
  say(`${name} skips ${stream}@${revision} from now on, in rebuilds too. ${whatBecame(outcome)}`)
}

function whatBecame ({ events, held, refused }: Reprojected): string {
  if (refused !== undefined) return `${held} events of the stream wait all the same: ${printable(refused)}`
  return events === 0 ? 'Nothing of the stream was waiting.' : 'Nothing of the stream waits any more.'
}

/** Lets a projection whose brake is on set aside what it refuses. */
export async function resumeProjection (name: string): Promise<void> {
  const released = await open('resume', ({ pool }) => releaseBrakes(pool, projectionNamed(name)))
  if (released === 0) throw new QuarantineRefused(`${name} does not stand still: its brake is not on`)
  say(`${name} goes on within seconds, and sets aside what it refuses.`)
}

const open = <Result> (command: string, work: (connections: Connections) => Promise<Result>) => withConnections(`ringledger projections quarantine ${command}`, work)

/** Who appends events may not write to the terminal of an operator as they like. */
const printable = (text: string) => text.replaceAll(/\p{C}/gu, '·')

const print = (value: object) => void process.stdout.write(`${JSON.stringify(value, undefined, 2)}\n`)

/** Bytes that are no JSON, as text where they are one. */
const readable = (data: unknown) => data instanceof Uint8Array ? { base64: Buffer.from(data).toString('base64') } : data

/** @throws QuarantineRefused naming those that there are */
function projectionNamed (name: string): Projection {
  const projection = projections.find((known) => known.name === name)
  if (!projection) throw new QuarantineRefused(`there is no projection ${name}: choose one of ${projections.map((known) => known.name).join(', ')}`)
  return projection
}
