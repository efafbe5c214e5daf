// Exports the log of the present event store.
import { exportTo, exportToFile, logOf } from '@ringledger/event-transfer'
import type { Operation } from '../shutdown.js'
import { withPresentStore } from './stores.js'

/** `-` is stdout. */
export async function exportLog (file: string, operation: Operation): ReturnType<typeof exportTo> {
  return await withPresentStore('export', operation.signal, async (store) => {
    const source = await logOf(store)
    return await (file === '-' ? exportTo(process.stdout, source, operation) : exportToFile(file, source, operation))
  })
}
