// What a person sees of a run: a line a file, what failed, and what took long.

interface Results { ok: boolean, count: number, fail: number, skip: number, todo: number }
interface Counts { total: number, pass: number, fail: number, skip: number, todo: number }

export interface Cost {
  seconds: number
  /** Of the processor: by the process of the file, and by those it started and which have ended. */
  cpuSeconds: number
}

const slowest = 10

/** With what failed in it, in full. */
export function reportFile (
  source: string, cost: Cost, results: Results | undefined, lines: readonly string[]
): void {
  const isOk = results?.ok === true
  print(`${isOk ? '    ok' : 'NOT OK'} ${shown(cost.seconds)} s ${shown(cost.cpuSeconds)} s cpu  ${source}`)
  if (!isOk) print(failuresIn(lines).join(''))
}

/** What is wrong with a process that ran files. */
export function reportProcess (wrong: string): void {
  print(`NOT OK  ${wrong}`)
}

/** `cpuSeconds` are of the whole run, with the back ends that its files share. */
export function reportRun (
  costs: ReadonlyMap<string, Cost>, cpuSeconds: number, { total, pass, fail, skip, todo }: Counts
): void {
  reportDearest('The slowest files', costs, ({ seconds }) => seconds)
  reportDearest('What took most of the processor', costs, (cost) => cost.cpuSeconds)
  const ofFiles = [...costs.values()].reduce((sum, cost) => sum + cost.cpuSeconds, 0)
  print(`\nThe processor worked for ${cpuSeconds.toFixed(0)} s, of which ${ofFiles.toFixed(0)} s for one file each`)
  print(`${costs.size} files, ${total} assertions: ${pass} passed, ${fail} failed, ${skip + todo} skipped or to do`)
}

function reportDearest (title: string, costs: ReadonlyMap<string, Cost>, costOf: (cost: Cost) => number): void {
  const dearest = [...costs].map(([source, cost]) => ({ source, cost: costOf(cost) }))
    .sort((one, other) => other.cost - one.cost).slice(0, slowest)
  print(`\n${title}:`)
  for (const { source, cost } of dearest) print(`  ${shown(cost)} s  ${source}`)
}

function shown (seconds: number): string {
  return seconds.toFixed(1).padStart(6)
}

/** Lines of TAP: each point that is not ok with its diagnosis, without the list of what was open at a time-out. */
function failuresIn (lines: readonly string[]): string[] {
  let isDiagnosis = false
  let isHandles = false
  return lines.filter((line) => {
    if (/^\s*not ok/.test(line)) isDiagnosis = true
    else if (/^\s*(ok|# Subtest|\d+\.\.\d+)/.test(line)) isDiagnosis = false
    isHandles = /^\s*handles:/.test(line) || (isHandles && /^\s*(-|type:|events:|connectionKey:)/.test(line))
    return isDiagnosis && !isHandles
  })
}

function print (text: string): void {
  process.stdout.write(`${text}\n`)
}
