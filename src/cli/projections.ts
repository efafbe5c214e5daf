// `ringledger projections`: where they stand, and replay, verify, rollback, drop.
import { hostname } from 'node:os'
import { setFlagsFromString } from 'node:v8'
import Table from 'cli-table3'
import type { Projection } from '../../projections/engine/projection.js'
import { standings } from '../../projections/replay/overview.js'
import { describe } from '../../projections/replay/difference.js'
import { drop } from '../../projections/replay/drop.js'
import { estimate } from '../../projections/replay/estimate.js'
import type { OperationOptions } from '../../projections/replay/options.js'
import { replay } from '../../projections/replay/replay.js'
import { rollback } from '../../projections/replay/rollback.js'
import { activeGeneration } from '../../projections/replay/generations.js'
import { ReplayRefused } from '../../projections/replay/refused.js'
import { verifyAgainstLog } from '../../projections/replay/verify.js'
import { projections } from '../../projections/index.js'
import { say, withConnections } from './running/back-ends.js'
import { operate } from './running/operation.js'

export async function listProjections ({ json }: { json?: boolean }): Promise<void> {
  const all = await withConnections('ringledger projections list', async ({ pool, streams }) => {
    const head = await streams.head()
    return (await Promise.all(projections.map((projection) => standings(projection, pool, head)))).flat()
  })
  if (json) return void process.stdout.write(`${JSON.stringify(all, undefined, 2)}\n`)
  const table = new Table({ head: ['projection', 'generation', 'state', 'code', 'position', 'behind', 'updated', 'owner', 'due'], style: { head: [], border: [] } })
  for (const { projection, generation, state, code_version: code, present_version: present, position, behind, updated_at, owner, due } of all) {
    table.push([projection, generation, state, code === present ? code : `${code} (this is ${present})`, position, behind, updated_at, owner ?? 'none', due ?? ''])
  }
  process.stdout.write(`${table.toString()}\n`)
}

export interface ReplayFlags {
  dryRun?: boolean
  acceptDifferences?: boolean
}

/** Builds the next generation, verifies it and waits until readers see it; may be broken off and run again. */
export async function replayProjection (name: string, { dryRun, acceptDifferences }: ReplayFlags): Promise<void> {
  const projection = projectionOf(name)
  if (dryRun) return await tellReplay(projection)
  // Nearly all that a replay makes is garbage soon. By itself V8 lets so small a heap grow to four times what is in use.
  setFlagsFromString('--heap-growing-percent=100')
  const began = Date.now()
  const again = 'The replay was stopped; readers see what they saw. Run the same command again to go on where it stands, or see `ringledger projections list`.'
  const generation = await onBackEnds('replay', again, (options) => replay(projection, { ...options, acceptDifferences }))
  say(`Replayed ${name} in ${((Date.now() - began) / 1000).toFixed(1)} s; readers see generation ${generation} now. The former one is kept level for \`ringledger projections rollback ${name}\`, until \`ringledger projections drop ${name}\`.`)
}

async function tellReplay (projection: Projection): Promise<void> {
  const { active, generation, kind, from, until, events, seconds, rows, bytes } = await onBackEnds('replay', 'stopped', (options) => estimate(projection, options))
  const { name, version } = projection
  process.stdout.write([
    `Readers of ${name} see generation ${active.generation}, folded by version ${active.codeVersion} of its code: ${rows} rows, ${megabytes(bytes)} on disk.`,
    kind === 'begin' ? `A replay would build generation ${generation} with version ${version}, from the start of the log.` : `Generation ${generation} has been begun with version ${version}; a replay would go on at position ${from} of ${until}.`,
    kind === 'wait' ? 'It is ready, and waits for its swap.' : `It would read about ${events} events, in about ${Math.ceil(seconds)} s by the first two seconds of them; indexes and verification come on top.`,
    `It would take about ${megabytes(bytes)} more on disk, until the former generation is dropped.`,
    active.codeVersion === version ? 'All rows would be compared before the swap.' : 'The code has changed: a sample of the rows would be compared with the log before the swap.',
    'Nothing was changed.', ''
  ].join('\n'))
}

const megabytes = (bytes: number) => `${Math.ceil(bytes / 2 ** 20)} MiB`

/** Compares rows that readers see with what the log gives. */
export async function verifyProjection (name: string, { sample, seed }: { sample: number, seed?: number }): Promise<void> {
  const projection = projectionOf(name)
  const verified = await onBackEnds('verify', 'The verification was stopped.', async (options) => {
    const generation = await activeGeneration(options.pool, projection)
    const onProgress = (events: number, done: number) => options.onProgress?.({ doing: name, events, done })
    return await verifyAgainstLog(projection, generation, { rows: sample, ...(seed !== undefined && { seed }) }, { ...options, onProgress })
  })
  const lines = verified.differences.map((difference) => `  ${describe(difference, verified)}`)
  if (lines.length > 0) throw new ReplayRefused([`${verified.found} of ${name} and ${verified.expected} differ, at least in these rows (${verified.how}):`, ...lines, `To build the rows anew: ringledger projections replay ${name} --accept-differences`].join('\n'))
  say(`The rows of ${name} are as they should be: ${verified.found} has the same as ${verified.how}.`)
}

export async function rollBackProjection (name: string): Promise<void> {
  const projection = projectionOf(name)
  const generation = await onBackEnds('rollback', 'The command was stopped; the swap is made all the same, by the next projector that can.', (options) => rollback(projection, options))
  say(`Readers of ${name} see generation ${generation} again. \`ringledger projections rollback ${name}\` goes back to the other one.`)
}

export async function dropGenerations (name: string, { generation }: { generation?: number }): Promise<void> {
  const projection = projectionOf(name)
  const dropped = await onBackEnds('drop', 'The command was stopped: run it again to finish.', (options) => drop(projection, generation, options))
  say(`Dropped of ${name}: generation ${dropped.join(', ')}.`)
}

function projectionOf (name: string): Projection {
  const projection = projections.find((known) => known.name === name)
  if (!projection) throw new ReplayRefused(`there is no projection ${name}: choose one of ${projections.map((known) => known.name).join(', ')}`)
  return projection
}

/** Runs `work` on the back ends until it is done or broken off by a signal. */
async function onBackEnds<Result> (command: string, stopped: string, work: (options: OperationOptions) => Promise<Result>): Promise<Result> {
  return await operate(stopped, async (operation) => await withConnections(`ringledger projections ${command}`, async ({ pool, consumerPool, streams }, _config, log) =>
    await work({ pool, consumerPool, streams, log, say, holder: `${hostname()} ${process.pid} ${command}`, ...operation })))
}
