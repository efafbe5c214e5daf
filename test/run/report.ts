// What a person sees of a run: a line a file, what failed, and what took long.
import { readFileSync } from 'node:fs'

interface Results { ok: boolean, skip: number, todo: number }
interface Counts { total: number, pass: number, fail: number, skip: number, todo: number }

export interface Cost {
  seconds: number
  /** CPU time of the process of the file, and of those that it started and that have ended. */
  cpuSeconds: number
}

/** With what failed in it, in full. */
export function reportFile (
  source: string, cost: Cost, results: Results | undefined, lines: readonly string[]
): void {
  const isOk = results?.ok === true
  print(`${isOk ? '    ok' : 'NOT OK'} ${shown(cost)}  ${source}`)
  if (!isOk) print(failuresIn(lines).join(''))
}

/** `whole` is of the run, with the back ends that its files share. */
export function reportRun (
  costs: ReadonlyMap<string, Cost>, whole: Cost, { total, pass, fail, skip, todo }: Counts
): void {
  const slowest = [...costs].sort(([, one], [, other]) => other.seconds - one.seconds).slice(0, 10)
  print('\nThe slowest files:')
  for (const [source, cost] of slowest) print(`       ${shown(cost)}  ${source}`)
  const ofFiles = [...costs.values()].reduce((sum, { cpuSeconds }) => sum + cpuSeconds, 0)
  print(`\nIn all ${shown(whole)}, of which ${ofFiles.toFixed(0)} s for one file each`)
  print(`${costs.size} files, ${total} assertions: ${pass} passed, ${fail} failed, ${skip} skipped, ${todo} to do`)
}

function shown ({ seconds, cpuSeconds }: Cost): string {
  return `${seconds.toFixed(1).padStart(6)} s ${cpuSeconds.toFixed(1).padStart(6)} s cpu`
}

/** Lines of TAP: each point that is not ok with its diagnosis, without the list of what was open at a time-out. */
function failuresIn (lines: readonly string[]): string[] {
  let isDiagnosis = false
  return lines.filter((line) => {
    if (/^\s*not ok/.test(line)) isDiagnosis = true
    else if (/^\s*(ok|# Subtest|\d+\.\.\d+|handles:)/.test(line)) isDiagnosis = false
    return isDiagnosis
  })
}

export function print (text: string): void {
  process.stdout.write(`${text}\n`)
}

/** User and system time of this process and of its children that have ended; without /proc, of this one alone. */
export function cpuSeconds (): number {
  try {
    const stat = readFileSync('/proc/self/stat', 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ') // behind the name of the program
    return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / 100
  } catch {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1_000_000
  }
}
