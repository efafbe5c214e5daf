// `ringledger events export`: the whole log to a file, or to stdout.
import { printJson, say } from '../output.js'
import { runAgain } from './transferred.js'

export async function exportEvents (file: string, { json }: { json?: boolean }): Promise<void> {
  if (json && file === '-') throw new Error('--json needs a FILE: the export itself goes to stdout')
  const [{ operate }, { exportLog }] = await Promise.all([import('../shutdown.js'), import('./export-log.js')])
  const { events, streams, sha256 } = await operate(runAgain, (operation) => exportLog(file, operation))
  if (json) return printJson({ file, events, streams, sha256 })
  say(`Exported ${events} events of ${streams} streams to ${file === '-' ? 'stdout' : file}. SHA-256 ${sha256}`)
}
