// `npm test`: runs test files in several processes, on back ends that it starts once for all of them.
import { createWriteStream } from 'node:fs'
import { PassThrough } from 'node:stream'
import { t } from 'tap'
import { madeDataVariable } from '@ringledger/embedded-postgres/testing'
import { holderVariable, startHolder } from '../support/back-ends/back-ends.js'
import { cpuSeconds } from './process/cpu.js'
import { FileProcess } from './process/file-process.js'
import { filesOf, type TestFile } from './files.js'
import { keepFilesInMemory } from './memory.js'
import { parseOptions } from './options.js'
import { type Cost, reportFile, reportProcess, reportRun } from './report.js'
import { roomsOf, takeRoom } from './rooms.js'

const { jobs, timeoutMs, patterns, env } = parseOptions(process.argv.slice(2))
const waiting = roomsOf(filesOf(patterns))
const taken: TestFile[][] = []
const costs = new Map<string, Cost>()
const processes = new Set<FileProcess>()
const endings: Array<Promise<void>> = []
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => { void endBy(signal) })
const removeFiles = keepFilesInMemory()
const starting = startHolder()
const holder = await starting

t.register()
t.setTimeout(0)
t.jobs = jobs
const { TAP_OUTPUT_FILE: output } = process.env
if (output) t.pipe(createWriteStream(output))
else t.resume()
await Promise.all(Array.from({ length: jobs }, runRooms))
await Promise.all(endings)
t.end()
await holder.stop()
reportRun(costs, cpuSeconds(), t.counts)

async function runRooms (): Promise<void> {
  for (let room = takeRoom(waiting, taken); room; room = takeRoom(waiting, taken)) {
    taken.push(room)
    await runRoom(room)
  }
}

async function runRoom (room: TestFile[]): Promise<void> {
  let current = startProcess()
  for (let file = room.shift(); file; file = room.shift()) {
    if (!current.isFit) current = startProcess()
    await run(file, current)
  }
  endings.push(end(current))
}

function startProcess (): FileProcess {
  const { url, postgresUrl, clusterData } = holder
  const ofBackEnds = { [holderVariable]: url, SCRATCH_POSTGRES_URL: postgresUrl, [madeDataVariable]: clusterData }
  const started = new FileProcess({ ...process.env, ...env, ...ofBackEnds })
  processes.add(started)
  return started
}

async function end (running: FileProcess): Promise<void> {
  const wrong = await running.end()
  processes.delete(running)
  if (wrong) fail(wrong)
}

/** A file, which is reported when it is over. */
async function run ({ source, compiled }: TestFile, on: FileProcess): Promise<void> {
  const tap = new PassThrough({ encoding: 'utf8' })
  const test = t.stdin(source, { tapStream: tap, buffered: true, at: null, stack: '' })
  const lines: string[] = []
  const { subtest } = test
  subtest?.parser.on('line', (line) => { lines.push(line) })
  const wrong = await on.run({ source, compiled, timeoutMs }, tap)
  tap.end()
  await test
  const cost = { seconds: (subtest?.time ?? 0) / 1000, cpuSeconds: on.cpuSeconds }
  costs.set(source, cost)
  reportFile(source, cost, subtest?.results, lines)
  if (wrong) fail(`${source}: ${wrong}`)
}

/** What is wrong with a process that runs files. */
function fail (wrong: string): void {
  t.fail(wrong, { at: null, stack: '' })
  reportProcess(wrong)
}

async function endBy (signal: NodeJS.Signals): Promise<void> {
  for (const one of processes) one.kill()
  await (await starting).stop()
  removeFiles()
  process.kill(process.pid, signal)
}
