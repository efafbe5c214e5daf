// `ringledger projections`: lists and operates the read models.
import { hostname } from 'node:os'
import type { Projection } from '../../projections/engine/projection.js'
import { projections } from '../../projections/index.js'
import { operations, type Action, type OperationInput, projectionNamed } from '../../projections/engine/operations.js'
import { overview, ownedGenerations, type GenerationStatus, estimate, type Estimate } from '../../projections/engine/overview.js'
import { answer, print, printJson, say, tableOf } from './output.js'
import { withConnections } from './running.js'
import { operate } from './shutdown.js'

/** Every generation of every projection, and its next action. */
export async function list ({ json }: { json?: boolean }): Promise<void> {
  const all = await withConnections('ringledger projections list', async ({ pool, streams }) => {
    const head = await streams.head()
    const found: GenerationStatus[] = []
    for (const projection of projections) { // on one connection
      found.push(...await overview(projection, await ownedGenerations(projection, pool), pool, head))
    }
    return found
  })
  if (json) return printJson(all)
  const head = ['projection', 'generation', 'state', 'code', 'position', 'behind', 'updated', 'owner', 'rollback', 'due']
  print(await tableOf(all.map(rowOf), head))
}

function rowOf (each: GenerationStatus) {
  const { projection, generation, position, behind, owner, rollback, due } = each
  const { code_version: code, present_version: present } = each
  const state = [each.state, !each.complete && each.state === 'active' && 'not filled yet', each.paused_since && 'paused']
  const version = code === present ? code : `${code} (this is ${present})`
  const where = [state.filter(Boolean).join(', '), version, position, behind, each.updated_at]
  return [projection, generation, ...where, owner ?? 'none', rollback ?? '', due ?? '']
}

interface Asked extends OperationInput { json?: boolean }

/**
 * Runs until it is done, or a signal stops it. JSON on stdout has the form of `/ops/api/actions`; failures go to stderr
 * in any case.
 */
const acting = (action: Action) => async (name: string, { json, ...input }: Asked): Promise<void> => {
  const projection = projectionNamed(name)
  const holder = `${hostname()} ${process.pid} ${action}`
  const message = await operate(operations[action].stopped, (operation) =>
    withConnections(`ringledger projections ${action}`, ({ pool, consumerPool, streams, logGuard: sameLog }, log) => {
      const given = { pool, consumerPool, streams, sameLog, log, say, holder, showsValues: true }
      return operations[action].run(projection, { ...given, ...operation }, input)
    }))
  answer(json, { action, projection: name, state: 'done', message }, message)
}

export const verify = acting('verify')
export const rollback = acting('rollback')
export const drop = acting('drop')
export const pause = acting('pause')
export const resume = acting('resume')
const build = acting('replay')

export async function replay (name: string, { dryRun, ...options }: Asked & { dryRun?: boolean }): Promise<void> {
  await (dryRun ? printPlan(projectionNamed(name), options.json) : build(name, options))
}

async function printPlan (projection: Projection, json = false): Promise<void> {
  const plan = await operate('stopped', (operation) =>
    withConnections('ringledger projections replay', ({ pool, streams }) =>
      estimate(projection, { pool, streams, ...operation })))
  const { kind, generation, from, until, active, seconds, events, rows, bytes } = plan
  const { name, version } = projection
  if (json) {
    return printJson({
      projection: name,
      kind,
      generation,
      code_version: version,
      active: { generation: active.generation, code_version: active.codeVersion },
      from: String(from),
      until: String(until),
      events,
      seconds,
      rows,
      bytes
    })
  }
  const folded = `folded by version ${active.codeVersion} of its code`
  print([
    `Readers of ${name} see generation ${active.generation}, ${folded}: ${rows} rows, ${megabytes(bytes)} on disk.`,
    beginning(plan, version),
    kind === 'wait'
      ? 'It is ready, and waits for its swap.'
      : `It would read about ${events} events, in about ${Math.ceil(seconds)} s by the first two seconds of them; ` +
        'indexes and verification come on top.',
    `It would take about ${megabytes(bytes)} more on disk, until the former generation is dropped.`,
    active.codeVersion === version
      ? 'All rows would be compared before the swap.'
      : 'The code has changed: the rows that differ would be counted before the swap.',
    'Nothing was changed.',
    ''
  ].join('\n'))
}

function beginning ({ kind, generation, from, until }: Estimate, version: number): string {
  if (kind === 'begin') {
    return `A replay would build generation ${generation} with version ${version}, from the start of the log.`
  }
  const begun = `Generation ${generation} has been begun with version ${version}`
  return `${begun}; a replay would go on at position ${from} of ${until}.`
}

const megabytes = (bytes: number) => `${Math.ceil(bytes / 2 ** 20)} MiB`
