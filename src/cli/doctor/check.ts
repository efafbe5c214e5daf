// A check of the doctor: its finding, and the fix. Each times out after three seconds. `skipped` is no fault: it could
// not be checked.
import type { Finding } from '../../ops/answers.js'
import { reasonOf } from '../../services/back-end-unreachable.js'
import { withTimeout } from '../../timing.js'

/** A plain text when all is well; undefined when there is nothing to say. */
export type Found = string | Pick<Finding, 'level' | 'found' | 'mend'> | undefined

export type Check = [name: string, look: () => Promise<Found>]

export const warning = (found: string, mend: string): Found => ({ level: 'warning', found, mend })
export const problem = (found: string, mend: string): Found => ({ level: 'error', found, mend })
export const skipped = (found: string): Found => ({ level: 'skipped', found })

const answerWithinMs = 3_000
const late = () => new Error(`no answer within ${answerWithinMs / 1000} s`)

/** Runs the checks in parallel. An exception or a timeout is an error. */
async function runChecks (part: string, checks: readonly Check[], mend: string): Promise<Finding[]> {
  const findings = await Promise.all(checks.map(async ([check, look]) => {
    const found = await withTimeout(answerWithinMs, look(), late)
      .catch((error: unknown) => refusalIn(error) ?? problem(reasonOf(error), mend))
    if (found === undefined) return []
    return [typeof found === 'string' ? { part, check, level: 'ok' as const, found } : { part, check, ...found }]
  }))
  return findings.flat()
}

/** Runs the rest only when the first one succeeds: they would all report the same. */
export async function runIfReachable (
  part: string, first: Check, rest: () => readonly Check[], mend: string
): Promise<Finding[]> {
  const found = await runChecks(part, [first], mend)
  return found.some(({ level }) => level === 'error') ? found : [...found, ...await runChecks(part, rest(), mend)]
}

const inWords = ['BackEndUnreachable', 'DataDirUnusable']

/** The message of a start has the problem up to its first full stop, then the fix. */
function refusalIn (error: unknown): Found {
  if (!(error instanceof Error && inWords.includes(error.name))) return undefined
  const [, found, mend] = /^(.*?)\. (.*)$/s.exec(error.message) ?? []
  return found === undefined || mend === undefined ? undefined : problem(found, mend)
}
