// `ringledger doctor`: looks at every setting and back end, and says what mends what is wrong.
import { printJson } from '../output.js'
import type { Finding } from './check.js'

export async function examine ({ json }: { json?: boolean }): Promise<void> {
  const { findAll } = await import('./find-all.js')
  const findings = await findAll(process.env)
  const errors = findings.filter(({ level }) => level === 'error').length
  if (json) printJson({ ok: errors === 0, findings })
  else process.stdout.write(textOf(findings))
  if (errors > 0) process.exitCode = 1
}

const marks = { ok: '  ok     ', skipped: '  -      ', warning: '  WARNING', error: '  ERROR  ' }

function textOf (findings: readonly Finding[]): string {
  const width = Math.max(...findings.map(({ check }) => check.length))
  const lines = findings.flatMap(({ part, check, level, found, mend }, index) => [
    ...findings[index - 1]?.part === part ? [] : [part],
    `${marks[level]}  ${check.padEnd(width)}  ${found}`,
    ...mend === undefined ? [] : [`${' '.repeat(marks.ok.length + width + 4)}${mend}`]
  ])
  return `${[...lines, '', summaryOf(findings)].join('\n')}\n`
}

function summaryOf (findings: readonly Finding[]): string {
  const count = (level: Finding['level']) => findings.filter((finding) => finding.level === level).length
  const [errors, warnings] = [count('error'), count('warning')]
  return errors + warnings === 0 ? 'All is well.' : `Errors: ${errors}. Warnings: ${warnings}.`
}
