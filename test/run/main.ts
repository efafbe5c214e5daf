// `npm test`: runs test files in several processes, on back ends that it starts once for all of them.
import { PassThrough } from 'node:stream'
import { parseArgs } from 'node:util'
import { t } from 'tap'
import { madeDataVariable } from '@ringledger/embedded-postgres/testing'
import { holderVariable, startHolder } from '../support/back-ends/back-ends.js'
import { FileProcess } from './file-process.js'
import { filesOf, type TestFile } from './files.js'
import { keepFilesInMemory } from './memory.js'
import { type Cost, cpuSeconds, print, reportFile, reportRun } from './report.js'

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    jobs: { type: 'string', short: 'j', default: '5' }, // more than twice the cores of a small machine: files mostly wait
    timeout: { type: 'string', default: '240' }, // of a file, in seconds
    grep: { type: 'string', short: 'g' },
    snapshot: { type: 'boolean' }
  }
})
const jobs = Number(options.jobs)
const timeoutMs = Number(options.timeout) * 1000

/** A pool closes an idle connection after ten seconds. */
const exitMs = Math.min(timeoutMs, 25_000)

/** Starting a process and warming it up takes longer than most files. More than this many share its state too long. */
const mostInProcess = 28

const shares = sharesOf(filesToRun())
const costs = new Map<string, Cost>()
const processes = new Set<FileProcess>()
const endings: Array<Promise<void>> = []
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => { void endBy(signal) })
const removeFiles = keepFilesInMemory()
const starting = process.env[holderVariable] === undefined ? startHolder() : undefined
t.setTimeout(0) // also while the first data directory is made
const env = await environment()

t.register()
t.jobs = jobs
t.resume()
await Promise.all(shares.map(runFiles))
await Promise.all(endings)
t.end()
await (await starting)?.stop()
reportRun(costs, { seconds: process.uptime(), cpuSeconds: cpuSeconds() }, t.counts)

function filesToRun (): TestFile[] {
  try {
    return filesOf(positionals)
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n`)
    process.exit(1)
  }
}

async function environment (): Promise<NodeJS.ProcessEnv> {
  const holder = await starting
  return {
    ...process.env,
    RINGLEDGER_TEST_EXIT_MS: String(exitMs),
    ...(options.grep !== undefined && { TAP_GREP: options.grep }),
    ...(options.snapshot && { TAP_SNAPSHOT: '1' }),
    ...(holder && {
      [holderVariable]: holder.url, SCRATCH_POSTGRES_URL: holder.postgresUrl, [madeDataVariable]: holder.clusterData
    })
  }
}

/** Neighbours share what a process has loaded. */
function sharesOf (files: TestFile[]): TestFile[][] {
  const from = (job: number) => Math.round(job * files.length / jobs)
  return Array.from({ length: jobs }, (_, job) => files.slice(from(job), from(job + 1)))
}

/** A job without files takes the last one of the job that has most: few processes, and none works alone for long. */
async function runFiles (own: TestFile[]): Promise<void> {
  const next = () => own.shift() ?? shares.reduce((most, each) => each.length > most.length ? each : most).pop()
  for (let file = next(); file;) {
    let current = startProcess()
    for (let count = 0; file && count < mostInProcess; count++, file = next()) {
      if (!current.isFit) current = startProcess()
      await run(file, current)
    }
    endings.push(end(current))
  }
}

function startProcess (): FileProcess {
  const started = new FileProcess(env)
  processes.add(started)
  return started
}

async function end (running: FileProcess): Promise<void> {
  const wrong = await running.end(exitMs)
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

/** Reports what is wrong with a process that runs files. */
function fail (wrong: string): void {
  t.fail(wrong, { at: null, stack: '' })
  print(`NOT OK  ${wrong}`)
}

async function endBy (signal: NodeJS.Signals): Promise<void> {
  for (const one of processes) one.kill()
  await (await starting)?.stop()
  removeFiles()
  process.kill(process.pid, signal)
}
