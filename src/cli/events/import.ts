// `ringledger events import FILE`: an export into the present event store; what that has already is compared.
import { printTransferred, runAgain } from './transferred.js'

interface ImportOptions {
  inFlight: number
  allowTruncated?: boolean
  json?: boolean
}

export async function importEvents (file: string, { json, ...options }: ImportOptions): Promise<void> {
  const [{ operate }, { importLog }] = await Promise.all([import('../shutdown.js'), import('./import-log.js')])
  printTransferred(await operate(runAgain, (operation) => importLog(file, { ...options, ...operation })), json)
}
