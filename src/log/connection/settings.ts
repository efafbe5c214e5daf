// Checks the settings of the event store before anything connects.
import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { urlProblems } from './client-url.js'
import { decoded, flat, pairsOf, splitUrl } from './url-options.js'

interface Settings {
  EVENTSTORE_URL?: string | undefined
  EVENTSTORE_CA_FILE?: string | undefined
}

/** Where a URL and the file of its CA come from, as problems name it. */
export interface SettingNames { url: string, caFile: string }

export const settingNames: SettingNames = { url: 'EVENTSTORE_URL', caFile: 'EVENTSTORE_CA_FILE' }

/** Each problem with the setting that it is of; never with a login. */
export function eventStoreProblems (env: Settings, names = settingNames): Array<{ field: string, message: string }> {
  const { EVENTSTORE_URL: url, EVENTSTORE_CA_FILE: caFile } = env
  const problems = urlProblems(url ?? '').map((message) => ({ field: names.url, message }))
  problems.push(...fileProblems(url ?? '').map((message) => ({ field: names.url, message })))
  const wrong = caFile ? caProblem(caFile) : undefined
  if (wrong !== undefined) problems.push({ field: names.caFile, message: `${wrong}: ${caFile}` })
  return problems
}

const files: Record<string, string> = { tlscafile: 'CA file', usercertfile: 'certificate', userkeyfile: 'key' }

function fileProblems (url: string): string[] {
  return pairsOf(splitUrl(url)[1]).flatMap(([name, value]) => {
    const [kind, file] = [files[flat(name)], decoded(value)]
    if (kind === undefined || !file) return []
    const wrong = kind === 'key' ? read(file) === undefined && unreadable : caProblem(file)
    return wrong ? `names a ${kind} that ${wrong}: ${file}` : []
  })
}

const unreadable = 'cannot be read'

/** The client takes a file without a certificate, and then trusts nobody. */
function caProblem (file: string): string | undefined {
  const pem = read(file)
  if (pem === undefined) return unreadable
  try {
    return new X509Certificate(pem) && undefined
  } catch {
    return 'holds no certificate in PEM'
  }
}

function read (file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
}
