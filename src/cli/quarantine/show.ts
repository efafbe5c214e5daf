// `ringledger projections quarantine show NAME STREAM`: a parked event as the log has it, with personal data, and why.
import type { Command } from 'commander'
import type { StoredEvent } from '../../domain/stored-event.js'
import { printable, printJson, say } from '../running/output.js'
import { withConnections } from '../running/with-connections.js'
import { revisionNumber } from '../values.js'

export function register (quarantine: Command): void {
  quarantine.command('show')
    .description('a parked event, as the log has it (with personal data), and why')
    .argument('<name>')
    .argument('<stream>')
    .argument('[revision]', 'the first parked one when it is not given', revisionNumber)
    .option('--json', 'for programs')
    .action(showParked)
}

async function showParked (
  name: string, stream: string, revision: bigint | undefined, { json }: { json?: boolean }
): Promise<void> {
  const [{ projectionNamed }, { parkedEvent, dispatcher }] = await Promise.all([
    import('../../../projections/operate/projection-named.js'), import('../../../projections/parking/parked-events.js')
  ])
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
    `${stream}@${at}: ${printable(error)}`)
  if (inLog) printJson(inLog)
  else say('The log does not have this event any more.')
}

function printableEvent ({ revision, position, data, ...event }: StoredEvent) {
  return { ...event, revision: String(revision), position: String(position), data: readable(data) }
}

/** Bytes that are no JSON are shown as base64. */
const readable = (data: unknown) => data instanceof Uint8Array ? { base64: Buffer.from(data).toString('base64') } : data
