// Measures this checkout and another one that is built, in turn: `npm run bench -- --quick --beside DIR`.
import { existsSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { packageRoot } from '../src/package-root.js'
import { openArrivals } from './pair/arrivals.js'
import { rowOf, table, type Missing, type Row } from './pair/rows.js'
import { idle, scenesOf, type Idle, type Measures, type Size } from './pair/scenes.js'
import { Stack } from './pair/stack.js'
import { isRedisThere } from './support/redis.js'
import { peaksOf, sum } from './support/processes.js'
import { sendRequests } from './support/load.js'
import { queueName, type Statements } from './support/statements.js'

const { values: options } = parseArgs({
  options: {
    beside: { type: 'string' }, // the folder of the other checkout
    quick: { type: 'boolean', default: false },
    only: { type: 'string' }, // scenes whose names begin so, with semicolons between them
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string' }, // of a round of a scene
    warm: { type: 'string' }, // seconds of new leads before
    calls: { type: 'string' }, // in the log before, to be replayed
    json: { type: 'boolean', default: false },
    out: { type: 'string' }
  }
})
const rounds = Number(options.rounds)
const size: Size = {
  seconds: Number(options.seconds ?? (options.quick ? 2 : 8)),
  calls: Number(options.calls ?? (options.quick ? 3_000 : 30_000)),
  rows: options.quick ? 500 : 5_000
}
const warmSeconds = Number(options.warm ?? (options.quick ? 4 : 20))
/** Whoever is warmed up first, and then idle while the other one is, costs a tenth more for minutes. */
const warmSlices = 8
const roots = [packageRoot, ...options.beside === undefined ? [] : [resolve(options.beside)]]
for (const root of roots) {
  if (!existsSync(join(root, 'dist'))) throw new Error(`${root} is not built: run npm ci and npm run build there`)
}

const say = (line: string) => process.stderr.write(`${line}\n`)
const rows: Row[] = []
const missing: Missing[] = []
const arrivals = await openArrivals()
const scenes = scenesOf(arrivals)
const isChosen = (name: string) => options.only === undefined || options.only.split(';').some((start) => name.startsWith(start))
const chosen = Object.entries(scenes).filter(([name]) => isChosen(name))
if (chosen.length === 0 && !isChosen('idle')) {
  throw new Error(`no scene begins with ${options.only}: there are ${[...Object.keys(scenes), 'idle'].join('; ')}`)
}

const stacks: Stack[] = []
try {
  for (const root of roots) {
    say(`${root} starts`)
    stacks.push(await Stack.open(root, arrivals.url, size.calls))
  }
  await measureQueue('Postgres')
  if (isChosen('idle')) await attempt('idle', measureIdle)
  if (chosen.some(([, { queue }]) => queue === 'Redis')) {
    if (isRedisThere()) await measureQueue('Redis')
    else missing.push({ name: 'queue on Redis', reason: 'redis-server is not on the PATH' })
  }
} finally {
  for (const stack of stacks) await stack.close()
  await arrivals.close()
  if (options.out !== undefined) writeFileSync(options.out, `${JSON.stringify({ rows, missing }, null, 2)}\n`)
  process.stdout.write(options.json ? `${JSON.stringify({ rows, missing })}\n` : table(rows, missing))
}

/** Who begins takes turns as well: a disturbance of the machine meets both. */
function inTurn (round: number): Array<[side: number, stack: Stack]> {
  const sides = [...stacks.entries()]
  return round % 2 === 0 ? sides : sides.reverse()
}

/** Memory is told at the end of it: every side has done the same until then, for as long. */
async function measureQueue (queue: Measures['queue']): Promise<void> {
  if (queue !== 'Postgres') for (const stack of stacks) await stack.startRoles(queue)
  for (let slice = 0; slice < warmSlices; slice++) {
    for (const [, stack] of inTurn(slice)) {
      await sendRequests(stack.url, {}, { inFlight: 32, seconds: warmSeconds / warmSlices }, stack.kinds()['POST lead'])
    }
  }
  for (const [name, scene] of chosen.filter(([, each]) => each.queue === queue)) {
    await attempt(name, () => measureScene(name, scene))
  }
  const peaks = stacks.map(({ pids }) => peaksOf(pids))
  rows.push(rowOf(`peak memory, queue on ${queue}`, 'MiB', peaks.map((each) => [sum(each)])))
  for (const process of Object.keys(peaks[0] ?? {})) {
    rows.push(rowOf(`peak memory, queue on ${queue}: ${process}`, 'MiB', peaks.map((each) => [each[process] ?? NaN])))
  }
}

/** One that fails is told, and the others go on. */
async function attempt (name: string, work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    process.exitCode = 1
    missing.push({ name, reason: error instanceof Error ? error.message.split('\n').slice(0, 3).join(' ') : String(error) })
    say(`${name} failed: ${error instanceof Error ? error.message : String(error)}`)
  }
}

async function measureScene (name: string, { unit, isPaced, isCounted, isWarmedUp, measure }: Measures): Promise<void> {
  if (isWarmedUp) for (const stack of stacks) await measure(stack, { ...size, seconds: Math.min(1, size.seconds) })
  const measured = stacks.map(() => [] as Array<Awaited<ReturnType<Measures['measure']>>>)
  for (let round = 0; round < rounds; round++) {
    say(`${name}: round ${round + 1} of ${rounds}`)
    for (const [side, stack] of inTurn(round)) {
      measured[side]?.push(await measure(stack, size))
    }
  }
  const of = (pick: (figures: Awaited<ReturnType<Measures['measure']>>) => number | undefined) =>
    measured.map((each) => each.flatMap((figures) => pick(figures) ?? []))
  const add = (what: string, unit: string, values: number[][], better?: Row['better']) => {
    if (values.every((each) => each.length > 0)) rows.push(rowOf(`${name}: ${what}`, unit, values, better))
  }
  add('CPU', `ms per ${unit}`, of(({ cpu }) => cpu && sum(cpu)))
  if (!isPaced) add('rate', `${unit}s/s`, of(({ perSecond }) => perSecond), 'higher')
  add('p50', 'ms', of(({ p50 }) => p50))
  add('p99', 'ms', of(({ p99 }) => p99))
  add('peak memory', 'MiB', of(({ peak }) => peak))
  if (isCounted) await countEach(name, unit, measure)
}

/** Once, in a run of its own, as logging costs. */
async function countEach (name: string, unit: string, measure: Measures['measure']): Promise<void> {
  const counted: Statements[] = []
  for (const stack of stacks) {
    let units = NaN
    const all = await stack.statementsOf(async () => { ({ units } = await measure(stack, size)) })
    counted.push(Object.fromEntries(Object.entries(all).map(([role, count]) => [role, count / units])))
  }
  addStatements(name, `per ${unit}`, counted)
}

function addStatements (name: string, unit: string, counted: readonly Statements[]): void {
  rows.push(rowOf(`${name}: SQL`, `statements ${unit}`, counted.map((each) => [sum(each) - (each[queueName] ?? 0)])))
  for (const role of new Set(counted.flatMap((each) => Object.keys(each)))) {
    rows.push(rowOf(`${name}: SQL of ${role}`, `statements ${unit}`, counted.map((each) => [each[role] ?? 0])))
  }
}

async function measureIdle (): Promise<void> {
  const seconds = 20
  await delay(60_000) // pools close connections, and V8 collects the garbage of the load: 0.5 s of CPU a process
  const measured: Idle[][] = []
  for (let round = 0; round < rounds; round++) {
    say(`idle: round ${round + 1} of ${rounds}`)
    measured.push(await idle(stacks, seconds))
  }
  const of = (key: 'cpu' | 'memory') => stacks.map((_, side) => measured.map((each) => each[side]?.[key] ?? NaN))
  rows.push(rowOf('idle: CPU', '% of a core', of('cpu')), rowOf('idle: memory', 'MiB', of('memory')))
  const counted = await Promise.all(stacks.map((stack) => stack.statementsOf(() => delay(seconds * 1_000))))
  addStatements('idle', 'per second', counted.map((each) =>
    Object.fromEntries(Object.entries(each).map(([role, count]) => [role, count / seconds]))))
}
