// The arguments of `npm test`.
import { parseArgs } from 'node:util'

export interface Options {
  /** How many files run at once. */
  jobs: number
  /** How long a file may take. */
  timeoutMs: number
  /** Files and folders of sources; everything when empty. */
  patterns: string[]
  /** What tap reads in the process of a file. */
  env: Record<string, string>
}

/** One more than the cores of a small machine, since files wait now and then. More only makes each of them late. */
const defaultJobs = '3'

/** `--jobs N`, `--timeout SECONDS` (or `TAP_TIMEOUT`), and those options of tap that a test file itself obeys. */
export function parseOptions (args: string[]): Options {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      jobs: { type: 'string', short: 'j', default: defaultJobs },
      timeout: { type: 'string', default: process.env.TAP_TIMEOUT ?? '240' },
      grep: { type: 'string', short: 'g' },
      bail: { type: 'boolean' },
      only: { type: 'boolean' },
      snapshot: { type: 'boolean' }
    }
  })
  const { jobs, timeout, grep, ...flags } = values
  const set = Object.entries(flags).filter(([, isSet]) => isSet).map(([name]) => [`TAP_${name.toUpperCase()}`, '1'])
  return {
    jobs: Number(jobs),
    timeoutMs: Number(timeout) * 1000,
    patterns: positionals,
    env: { ...Object.fromEntries(set), ...(grep !== undefined && { TAP_GREP: grep }) }
  }
}
