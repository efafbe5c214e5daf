// What `projections replay --dry-run` prints.
import type { Projection } from '../../../projections/folding/projection.js'
import { estimate, type Estimate } from '../../../projections/replay/estimate.js'
import { operate } from '../running/operation.js'
import { printJson } from '../running/output.js'
import { withConnections } from '../running/with-connections.js'
import { projectionNamed } from '../../../projections/operate/projection-named.js'

/** @throws UnknownProjection */
export async function printReplayPlan (named: string, json = false): Promise<void> {
  const projection = projectionNamed(named)
  const plan = await operate('stopped', (operation) =>
    withConnections('ringledger projections replay', ({ pool, streams }) =>
      estimate(projection, { pool, streams, ...operation })))
  if (json) return printJson(forPrograms(projection, plan))
  const { active, seconds, events, rows, bytes } = plan
  const { name, version } = projection
  const folded = `folded by version ${active.codeVersion} of its code`
  process.stdout.write([
    `Readers of ${name} see generation ${active.generation}, ${folded}: ${rows} rows, ${megabytes(bytes)} on disk.`,
    beginning(plan, version),
    plan.kind === 'wait' ? 'It is ready, and waits for its swap.' : reading(events, seconds),
    `It would take about ${megabytes(bytes)} more on disk, until the former generation is dropped.`,
    active.codeVersion === version
      ? 'All rows would be compared before the swap.'
      : 'The code has changed: a sample of the rows would be compared with the log before the swap.',
    'Nothing was changed.',
    ''
  ].join('\n'))
}

const forPrograms = ({ name, version }: Projection, plan: Estimate) => ({
  projection: name,
  kind: plan.kind,
  generation: plan.generation,
  code_version: version,
  active: { generation: plan.active.generation, code_version: plan.active.codeVersion },
  from: String(plan.from),
  until: String(plan.until),
  events: plan.events,
  seconds: plan.seconds,
  rows: plan.rows,
  bytes: plan.bytes
})

function beginning ({ kind, generation, from, until }: Estimate, version: number): string {
  if (kind === 'begin') {
    return `A replay would build generation ${generation} with version ${version}, from the start of the log.`
  }
  const begun = `Generation ${generation} has been begun with version ${version}`
  return `${begun}; a replay would go on at position ${from} of ${until}.`
}

const reading = (events: number, seconds: number) =>
  `It would read about ${events} events, in about ${Math.ceil(seconds)} s by the first two seconds of them; ` +
  'indexes and verification come on top.'

const megabytes = (bytes: number) => `${Math.ceil(bytes / 2 ** 20)} MiB`
