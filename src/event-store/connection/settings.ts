// Checks the settings of the event store before anything connects.
import { accessSync, constants } from 'node:fs'
import { urlProblems } from './client-url.js'

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
  const named = url && decodeURIComponent(/[?&]tlsCAFile=([^&]*)/i.exec(url)?.[1] ?? '')
  if (named && !isReadable(named)) problems.push({ field: names.url, message: `names a CA file that cannot be read: ${named}` })
  if (caFile && !isReadable(caFile)) problems.push({ field: names.caFile, message: `cannot be read: ${caFile}` })
  return problems
}

function isReadable (file: string): boolean {
  try {
    accessSync(file, constants.R_OK)
    return true
  } catch {
    return false
  }
}
