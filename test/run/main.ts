// `npm test`: runs test files, several at once, on back ends that it starts once for all of them.
import { createWriteStream } from 'node:fs'
import { t } from 'tap'
import { holderVariable, startHolder } from '../support/back-ends/back-ends.js'
import { filesOf, type TestFile } from './files.js'
import { parseOptions } from './options.js'
import { reportFile, reportRun } from './report.js'

const { jobs, timeoutMs, patterns, env } = parseOptions(process.argv.slice(2))
const files = filesOf(patterns)
const holder = await startHolder()
const ends: Array<() => unknown> = []
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => { void endBy(signal) })

t.register()
t.setTimeout(0)
t.jobs = jobs
const { TAP_OUTPUT_FILE: output } = process.env
if (output) t.pipe(createWriteStream(output))
else t.resume()
const seconds = new Map(await Promise.all(files.map(run)))
t.end()
await holder.stop()
reportRun(seconds, t.counts)

/** The seconds that a file took, after it was reported. */
async function run ({ source, compiled }: TestFile): Promise<[string, number]> {
  // Without what tap puts into the environment of processes: its loader takes longer than most files.
  const args = ['-u', 'NODE_OPTIONS', process.execPath, '--enable-source-maps', compiled]
  const variables = { ...process.env, ...env, [holderVariable]: holder.url, SCRATCH_POSTGRES_URL: holder.postgresUrl }
  const test = t.spawn('env', args, {
    name: source, buffered: true, timeout: timeoutMs, at: null, stack: '', env: variables
  })
  const lines: string[] = []
  const { subtest } = test
  subtest?.parser.on('line', (line) => { lines.push(line) })
  ends.push(() => subtest?.proc?.kill('SIGKILL'))
  await test
  const took = (subtest?.time ?? 0) / 1000
  reportFile(source, took, subtest?.results, lines)
  return [source, took]
}

async function endBy (signal: NodeJS.Signals): Promise<void> {
  for (const end of ends) end()
  await holder.stop()
  process.kill(process.pid, signal)
}
