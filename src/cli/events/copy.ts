// `ringledger events copy`: the whole log to another event store, up to the present head.
import type { CopyTarget } from './copy-log.js'
import { say } from '../output.js'
import { printTransferred, runAgain } from './transferred.js'

interface CopyOptions extends CopyTarget {
  inFlight: number
  json?: boolean
}

export async function copyEvents ({ inFlight, json, ...to }: CopyOptions): Promise<void> {
  const [{ operate }, { copyLog }] = await Promise.all([import('../shutdown.js'), import('./copy-log.js')])
  const copied = await operate(runAgain, (operation) => copyLog(to, { inFlight, ...operation }))
  const { sourceMovedOn, ...transferred } = copied
  printTransferred(transferred, json, { source_moved_on: sourceMovedOn })
  if (!sourceMovedOn) return
  say('The source has new events since this copy began: ' +
    'stop what writes to it, and copy again; only the new ones are sent.')
}
