// What a person sees of a run: a line a file, what failed, and what took long.

interface Results { ok: boolean, count: number, fail: number, skip: number, todo: number }
interface Counts { total: number, pass: number, fail: number, skip: number, todo: number }

const slowest = 10

/** With what failed in it, in full. */
export function reportFile (
  source: string, seconds: number, results: Results | undefined, lines: readonly string[]
): void {
  const isOk = results?.ok === true
  print(`${isOk ? '    ok' : 'NOT OK'} ${seconds.toFixed(1).padStart(6)} s  ${source}`)
  if (!isOk) print(failuresIn(lines).join(''))
}

/** What is wrong with a process that ran files. */
export function reportProcess (wrong: string): void {
  print(`NOT OK  ${wrong}`)
}

export function reportRun (seconds: ReadonlyMap<string, number>, { total, pass, fail, skip, todo }: Counts): void {
  const longest = [...seconds].sort(([, one], [, other]) => other - one).slice(0, slowest)
  print('\nThe slowest files:')
  for (const [source, took] of longest) print(`  ${took.toFixed(1).padStart(6)} s  ${source}`)
  print(`\n${seconds.size} files, ${total} assertions: ${pass} passed, ${fail} failed, ${skip + todo} skipped or to do`)
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
