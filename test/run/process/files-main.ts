// Runs one test file after another, as the runner orders, and tells what each reports.
import './no-async-hooks.js'
import { Test } from 'tap'
import { cpuSeconds } from './cpu.js'
import { Limit } from './limit.js'
import type { News, Order } from './messages.js'
import { setOwnTest } from './own-test.js'
import { failOnUncaught } from './uncaught.js'

/** Long enough to send many lines at once. */
const reportMs = 100

/** Of the file that runs. */
let limit: Limit

/** That the process had taken at the end of the last file: its start counts for the first. */
let cpuBefore = 0

process.on('message', (order: Order) => { void run(order) })

async function run ({ source, compiled, timeoutMs }: Order): Promise<void> {
  const test = fileTest(source, compiled)
  const report = reportOf(test)
  const fail = () => { test.endAll() }
  process.channel?.unref() // when nothing else keeps this process, the file waits for something that never comes
  process.once('beforeExit', fail)
  process.once('disconnect', exit)
  const ignoreUncaught = failOnUncaught(test)
  limit = new Limit(() => { test.timeout() })
  test.setTimeout(timeoutMs)
  await new Promise<void>((resolve) => { test.runMain(resolve) })
  test.setTimeout(0)
  ignoreUncaught()
  process.off('beforeExit', fail)
  process.off('disconnect', exit)
  process.channel?.ref()
  report.end()
  const cpu = cpuSeconds()
  tell({ open: openNow(), hasTimedOut: limit.isOver, cpuSeconds: cpu - cpuBefore })
  cpuBefore = cpu
}

function fileTest (source: string, compiled: string): Test {
  return new FileTest({
    name: source,
    testdir: `.tap/fixtures/${source.replaceAll('/', '-')}`,
    bail: process.env.TAP_BAIL === '1',
    cb: async (test: Test) => {
      setOwnTest(test)
      await import(compiled)
    }
  })
}

/** A test with a limit of our own, because nobody is told of the one of tap. */
class FileTest extends Test {
  override setTimeout (ms: number): void {
    limit.set(ms)
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

function openNow (): Record<string, number> {
  const open: Record<string, number> = {}
  for (const kind of process.getActiveResourcesInfo()) open[kind] = (open[kind] ?? 0) + 1
  return open
}

function tell (news: News): void {
  process.send?.(news)
}

/** The runner is gone. */
function exit (): void {
  process.exit(1)
}
