// Settings that are secret, or lead to something with a login, may stand in files: NAME_FILE holds the value of NAME.
import { problem } from '../domain/validation.js'
import { NotText, readText } from '../text-files.js'

/** The settings that may be read from a file; nobody prints their values. */
export const secretNames = [
  'JWT_SECRET', 'JWT_SECRET_PREVIOUS', 'SECRET_KEY', 'SECRET_KEY_PREVIOUS', 'LEAD_DIGEST_KEY', 'DATABASE_URL', 'REDIS_URL',
  'EVENTSTORE_URL', 'METRICS_TOKEN', 'ALERT_WEBHOOK_SECRET'
] as const

export interface WithFiles {
  /** Each NAME_FILE replaced by NAME, where that could be done. */
  values: NodeJS.ProcessEnv
  /** Of the others. The field is the one to mend. */
  problems: Array<ReturnType<typeof problem>>
  /** The settings whose files these problems are about: nobody knows whether more is wrong with them. */
  unknown: string[]
}

/**
 * Reads the files that are named. An empty setting counts as not set. Line ends around a secret do not count,
 * wherever it stands: editors, shells and `kubectl create secret` add them.
 */
export function withFiles (environment: NodeJS.ProcessEnv, names: readonly string[] = secretNames): WithFiles {
  const read: WithFiles = { values: { ...environment }, problems: [], unknown: [] }
  for (const name of names) {
    const setting = `${name}_FILE`
    const [file, given] = [environment[setting], environment[name]]
    if (!file && !given) continue
    const found = !file ? visible(name, given ?? '') : given ? both(name, setting) : contentOf(setting, name, file)
    if ('content' in found) read.values[name] = found.content || given
    else {
      read.problems.push(found)
      read.unknown.push(name)
      delete read.values[name] // nothing else is said of it
    }
  }
  return read
}

const both = (name: string, setting: string) => problem(name, `and ${setting} cannot both be set: keep one of them`)

function contentOf (setting: string, name: string, file: string): { content: string } | ReturnType<typeof problem> {
  const refused = (why: string, mend: string) => problem(setting, `names a file that ${why}: ${file}. ${mend}`)
  try {
    const found = visible(name, readText(file))
    if ('message' in found) return refused(controls, writeOnly(name))
    return found.content ? found : refused('is empty', `Write the value of ${name} into it.`)
  } catch (error) {
    if (error instanceof NotText) return refused(`is no text (${error.message})`, writeOnly(name))
    const [why, mend] = reasons[codeOf(error)] ?? [`cannot be read (${codeOf(error)})`, 'Look at the file system.']
    return refused(why, mend.replace('SETTING', setting))
  }
}

const writeOnly = (name: string) => `Write only the value of ${name} into it, in one line.`
const controls = 'holds line ends or other control characters'

function visible (name: string, text: string): { content: string } | ReturnType<typeof problem> {
  const content = text.replace(/^[\r\n]+|[\r\n]+$/g, '')
  return /[\p{Cc}\uFEFF]/u.test(content) ? problem(name, controls) : { content }
}

const reasons: Record<string, [why: string, mend: string]> = {
  ENOENT: ['does not exist', 'Make or mount it there, or set SETTING to where it is.'],
  ENOTDIR: ['does not exist', 'Make or mount it there, or set SETTING to where it is.'],
  EACCES: ['this process may not read', 'Give its user the right to: chown or chmod the file and its folders.'],
  EISDIR: ['is a folder', 'Set SETTING to the file in it.']
}

const codeOf = (error: unknown) => error instanceof Error && 'code' in error ? String(error.code) : 'for an unknown reason'
