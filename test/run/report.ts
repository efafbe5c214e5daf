// What a person sees of a run: a line a file, what failed, and what took long.

interface Results { ok: boolean, skip: number, todo: number }
interface Counts { total: number, pass: number, fail: number, skip: number, todo: number }

export interface Cost {
  seconds: number
  /** Of the processor: by the process of the file, and by those it started and which have ended. */
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

/** What is wrong with a process that ran files. */
export function reportProcess (wrong: string): void {
  print(`NOT OK  ${wrong}`)
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
  print(`${costs.size} files, ${total} assertions: ${pass} passed, ${fail} failed, ${skip + todo} skipped or to do`)
}

function shown ({ seconds, cpuSeconds }: Cost): string {
  return `${seconds.toFixed(1).padStart(6)} s ${cpuSeconds.toFixed(1).padStart(6)} s cpu`
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
