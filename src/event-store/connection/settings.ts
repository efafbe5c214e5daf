// Checks the settings of the event store before anything connects.
import { accessSync, constants } from 'node:fs'
import { urlProblems } from './client-url.js'

interface Settings {
  EVENTSTORE_URL?: string | undefined
  EVENTSTORE_CA_FILE?: string | undefined
}

/** Each problem with the setting that it is of; never with a login. */
export function eventStoreProblems (env: Settings): Array<{ field: string, message: string }> {
  const { EVENTSTORE_URL: url, EVENTSTORE_CA_FILE: caFile } = env
  const problems = urlProblems(url ?? '').map((message) => ({ field: 'EVENTSTORE_URL', message }))
  const named = url && decodeURIComponent(/[?&]tlsCAFile=([^&]*)/i.exec(url)?.[1] ?? '')
  if (named && !isReadable(named)) problems.push({ field: 'EVENTSTORE_URL', message: `names a CA file that cannot be read: ${named}` })
  if (caFile && !isReadable(caFile)) problems.push({ field: 'EVENTSTORE_CA_FILE', message: `cannot be read: ${caFile}` })
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
