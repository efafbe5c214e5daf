// A check of the doctor: what was found, and what mends it. None is waited for longer than three seconds.
import { reasonOf } from '../../services/back-end-unreachable.js'
import { withTimeout } from '../../timing.js'

/** `skipped`: it could not be looked at, which is no fault by itself. */
type Level = 'ok' | 'skipped' | 'warning' | 'error'

export interface Finding {
  /** Such as `Postgres`. */
  part: string
  check: string
  level: Level
  found: string
  mend?: string
}

/** What a check answers: a text when all is well. Nothing where there is nothing to say. */
export type Found = string | { level: Level, found: string, mend?: string } | undefined

export type Check = [name: string, look: () => Promise<Found>]

export const warning = (found: string, mend: string): Found => ({ level: 'warning', found, mend })
export const problem = (found: string, mend: string): Found => ({ level: 'error', found, mend })
export const skipped = (found: string): Found => ({ level: 'skipped', found })

const answerWithinMs = 3_000
const late = () => new Error(`no answer within ${answerWithinMs / 1000} s`)

/** Runs them side by side. What throws is an error, and so is what does not answer in time. */
async function runChecks (part: string, checks: readonly Check[], mend: string): Promise<Finding[]> {
  const findings = await Promise.all(checks.map(async ([check, look]) => {
    const found = await withTimeout(answerWithinMs, look(), late)
      .catch((error: unknown) => refusalIn(error) ?? problem(reasonOf(error), mend))
    if (found === undefined) return []
    return [typeof found === 'string' ? { part, check, level: 'ok' as const, found } : { part, check, ...found }]
  }))
  return findings.flat()
}

/** The rest only when the first one is well: it would say the same again. */
export async function runIfReachable (
  part: string, first: Check, rest: () => readonly Check[], mend: string
): Promise<Finding[]> {
  const found = await runChecks(part, [first], mend)
  return found.some(({ level }) => level === 'error') ? found : [...found, ...await runChecks(part, rest(), mend)]
}

const inWords = ['BackEndUnreachable', 'DataDirUnusable']

/** In the words of a start: what is wrong, and after the first full stop what mends it. */
function refusalIn (error: unknown): Found {
  if (!(error instanceof Error && inWords.includes(error.name))) return undefined
  const [, found, mend] = /^(.*?)\. (.*)$/s.exec(error.message) ?? []
  return found === undefined || mend === undefined ? undefined : problem(found, mend)
}
