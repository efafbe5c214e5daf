// Runs one test file after another, as the runner orders, and reports what each says.
import './no-async-hooks.js'
import { Test } from 'tap'
import type { News, Order } from './file-process.js'
import { setOwnTest } from './own-test.js'
import { cpuSeconds } from './report.js'

/** Long enough to send many lines at once. */
const reportMs = 100

/** How long this process may live on after its last file: a pool closes an idle connection after ten seconds. */
const exitMs = Number(process.env.RINGLEDGER_TEST_EXIT_MS)

/** What was open in this process at the end of each file, by kind. */
const openAfter = new Map<string, Map<string, number>>()
let limit: NodeJS.Timeout | undefined
let hasTimedOut = false
let cpuBefore = 0 // at the end of the last file: the start of this process counts for the first

process.on('message', (order: Order) => { void run(order) })
process.once('disconnect', () => { setTimeout(giveUp, exitMs).unref() })

async function run ({ source, compiled, timeoutMs }: Order): Promise<void> {
  const test = fileTest(source, compiled)
  const report = reportOf(test)
  const fail = () => { test.endAll() }
  process.channel?.unref() // when nothing else keeps this process, the file waits for something that never comes
  process.once('beforeExit', fail)
  process.once('disconnect', exit)
  const ignoreUncaught = failOnUncaught(test)
  test.setTimeout(timeoutMs)
  await new Promise<void>((resolve) => { test.runMain(resolve) })
  test.setTimeout(0)
  ignoreUncaught()
  process.off('beforeExit', fail)
  process.off('disconnect', exit)
  process.channel?.ref()
  report.end()
  openAfter.set(source, openNow())
  const cpu = cpuSeconds()
  tell({ hasTimedOut, cpuSeconds: cpu - cpuBefore })
  cpuBefore = cpu
}

function fileTest (source: string, compiled: string): Test {
  return new FileTest({
    name: source,
    testdir: `.tap/fixtures/${source.replaceAll('/', '-')}`,
    cb: async (test: Test) => {
      setOwnTest(test)
      await import(compiled)
    }
  })
}

/** A test with a limit of our own, because nobody is told of the one of tap. */
class FileTest extends Test {
  override setTimeout (ms: number): void {
    clearTimeout(limit)
    if (ms > 0) {
      limit = setTimeout(() => {
        hasTimedOut = true
        this.timeout()
      }, ms).unref()
    }
    tell({ timeoutMs: ms })
  }
}

/** Sends what the test writes, many lines at a time. */
function reportOf (test: Test): { end (): void } {
  let lines = ''
  const send = () => {
    if (lines !== '') tell({ tap: lines })
    lines = ''
  }
  const timer = setInterval(send, reportMs).unref()
  test.on('data', (line: string) => { lines += line })
  process.on('exit', send)
  return {
    end () {
      clearInterval(timer)
      process.off('exit', send)
      send()
    }
  }
}

/**
 * Until the answer is called, errors that nobody catches and listeners that pile up fail the test that runs: of
 * several, the last one started.
 */
function failOnUncaught (file: Test): () => void {
  const running = new Set<Test>()
  const follow = (test: Test) => {
    running.add(test)
    test.on('subtestStart', (subtest) => { if (subtest instanceof Test) follow(subtest) })
    test.on('subtestEnd', (subtest) => { if (subtest instanceof Test) running.delete(subtest) })
  }
  follow(file)
  const fail = (error: unknown) => { [...running].at(-1)?.threw(error) }
  const leaks = (warning: Error) => { if (warning.name === 'MaxListenersExceededWarning') fail(warning) }
  process.on('uncaughtException', fail).on('warning', leaks) // of a rejection that nobody handles, too
  return () => { process.off('uncaughtException', fail).off('warning', leaks) }
}

function openNow (): Map<string, number> {
  const open = new Map<string, number>()
  for (const kind of process.getActiveResourcesInfo()) open.set(kind, (open.get(kind) ?? 0) + 1)
  return open
}

/** Something keeps this process: it says what, and after which files there was more of that than before. */
function giveUp (): void {
  const open = [...openNow().keys()]
  let before = new Map<string, number>()
  const grown: string[] = []
  for (const [source, after] of openAfter) {
    if (open.some((kind) => (after.get(kind) ?? 0) > (before.get(kind) ?? 0))) grown.push(source)
    before = after
  }
  process.stderr.write(`Left open: ${open.join(', ')}. There was more of that after ${grown.join(', ')}\n`)
  process.exit(1)
}

function tell (news: News): void {
  process.send?.(news)
}

/** The runner is gone. */
function exit (): void {
  process.exit(1)
}
