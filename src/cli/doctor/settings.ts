// Whether the settings are right, and Node new enough.
import { BadSettings, loadConfig, type Config } from '../../config.js'
import { settingNames } from '../../settings/environment.js'
import { misspelt } from '../../settings/misspelt.js'
import type { Finding } from './check.js'

const part = 'Settings'

/** With the settings when they are right. */
export function checkSettings (environment: NodeJS.ProcessEnv): { findings: Finding[], config?: Config } {
  const first = [checkNode(process.versions.node), ...unknownNames(environment)]
  try {
    const config = loadConfig(environment)
    const own = { part, check: 'settings', level: 'ok' as const, found: 'all are right' }
    return { findings: [...first, own], config }
  } catch (error) {
    if (!(error instanceof BadSettings)) throw error
    const mend = 'Set it right; .env.example says what each setting is for.'
    const wrong = error.message.split('\n').map((line): Finding =>
      ({ part, check: line.split(' ')[0] ?? '', level: 'error', found: line, mend }))
    return { findings: [...first, ...wrong] }
  }
}

/** What nobody reads, though somebody may count on it. */
const unknownNames = (environment: NodeJS.ProcessEnv): Finding[] => misspelt(environment, settingNames).map((line) =>
  ({ part, check: line.split(' ')[0] ?? '', level: 'warning', found: line, mend: 'Write its name right, or take it away.' }))

/** The oldest release that is tried, and the one to run. */
const [oldest, recommended] = ['20.20.2', 24]

export function checkNode (version: string): Finding {
  const finding = { part, check: 'Node', found: version }
  const mend = `Install Node ${recommended}.`
  if (isBefore(version, oldest)) return { ...finding, level: 'error', found: `${version}, before ${oldest}`, mend }
  if (Number.parseInt(version) > 20) return { ...finding, level: 'ok' }
  return { ...finding, level: 'warning', found: `${version}, which gets no security fixes any more`, mend }
}

function isBefore (version: string, other: string): boolean {
  const [left, right] = [version, other].map((text) => text.split('.').map(Number))
  const at = right?.findIndex((number, index) => left?.[index] !== number) ?? -1
  return at >= 0 && (left?.[at] ?? 0) < (right?.[at] ?? 0)
}
