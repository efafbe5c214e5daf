// `ringledger projections quarantine show NAME STREAM`: a parked event as the log has it, with personal data, and why.
import type { Command } from 'commander'
import type { StoredEvent } from '../../domain/stored-event.js'
import { printable, printJson, say } from '../running/output.js'
import { withConnections } from '../running/with-connections.js'
import { revisionNumber } from '../values.js'

export function register (quarantine: Command): void {
  quarantine.command('show')
    .description('an event that waits, as the log has it (with personal data), and why')
    .argument('<name>')
    .argument('<stream>')
    .argument('[revision]', 'the first one that waits when it is not given', revisionNumber)
    .option('--json', 'for programs')
    .action(showHeld)
}

async function showHeld (
  name: string, stream: string, revision: bigint | undefined, { json }: { json?: boolean }
): Promise<void> {
  const [{ projectionNamed }, { heldEvent }] = await Promise.all([
    import('../projections/projection-named.js'), import('../../../projections/parking/parked-events.js')
  ])
  const { generation, held, error, event, ...row } = await withConnections('ringledger projections quarantine show',
    (connections) => heldEvent(connections, projectionNamed(name), stream, revision))
  const [since, parked] = [row.since.toISOString(), String(row.revision)]
  const inLog = event && printableEvent(event)
  const found = { projection: name, generation, stream, revision: parked, held, since, error, event: inLog ?? null }
  if (json) return printJson(found)
  say(`${name} (generation ${generation}) holds ${held} events of ${stream} since ${since}. ${stream}@${parked}: ${printable(error)}`)
  if (inLog) printJson(inLog)
  else say('The log does not have this event any more.')
}

function printableEvent ({ revision, position, data, ...event }: StoredEvent) {
  return { ...event, revision: String(revision), position: String(position), data: readable(data) }
}

/** Bytes that are no JSON are shown as base64. */
const readable = (data: unknown) => data instanceof Uint8Array ? { base64: Buffer.from(data).toString('base64') } : data
