// `ringledger projections quarantine list`: parked and skipped events, and open circuit breakers.
import type { Command } from 'commander'
import type { ParkedStream } from '../../../projections/parking/parked-events.js'
import { printable, printJson, say, tableOf } from '../running/output.js'
import { withConnections } from '../running/with-connections.js'

/** Of the table; programs get all of them. */
const longestList = 100

export function register (quarantine: Command): void {
  quarantine.command('list')
    .description('parked events, by projection and generation')
    .argument('[name]', 'of one projection, or `dispatcher`')
    .option('--json', 'for programs: with the skipped events')
    .action(listQuarantine)
}

async function listQuarantine (name: string | undefined, { json }: { json?: boolean }): Promise<void> {
  const [{ projections }, { projectionNamed }] = await Promise.all([
    import('../../../projections/index.js'),
    import('../../../projections/operate/projection-named.js')
  ])
  const [{ openBreakers }, { parkedStreams, dispatcher }, { skippedEvents }] = await Promise.all([
    import('../../../projections/parking/circuit-breaker.js'),
    import('../../../projections/parking/parked-events.js'),
    import('../../../projections/parking/park.js')
  ])
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
      `as it refused ${streams} streams within a minute: ${printable(error)}`)
  }
  if (found.skipped.length > 0) say(`${found.skipped.length} events are skipped for good: --json has them`)
}

async function printParked (parked: ParkedStream[]): Promise<void> {
  if (parked.length === 0) return void process.stdout.write('Nothing is parked.\n')
  const head = ['projection', 'generation', 'stream', 'revision', 'events', 'since', 'error']
  process.stdout.write(await tableOf(parked.slice(0, longestList).map(rowOf), head))
  if (parked.length > longestList) say(`and ${parked.length - longestList} more streams: --json has all of them`)
}

function rowOf ({ projection, generation, stream, revision, events, since, error }: ParkedStream) {
  return [projection, generation ?? '', printable(stream), revision, events, since, printable(error)]
}
