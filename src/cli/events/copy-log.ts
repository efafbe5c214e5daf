// Copies the log of the present event store to another one.
import { isSameLog, logOf, transfer, type Transferred, TransferRefused } from '@ringledger/event-transfer'
import type { Operation } from '../shutdown.js'
import { type StorePlace, withPresentStore, withStoreAt } from './stores.js'

export interface CopyTarget {
  to: string
  /** PEM file of the CA that signed its certificates; EVENTSTORE_CA_FILE unless given. */
  toCaFile?: string | undefined
}

/** @returns what was transferred, and whether the source has moved on meanwhile */
export async function copyLog (
  to: CopyTarget, options: Operation & { inFlight: number }
): Promise<Transferred & { sourceMovedOn: boolean }> {
  return await withStoreAt(placeOf(to), options.signal, (target) =>
    withPresentStore('copy', options.signal, async (store) => {
      if (await isSameLog(store, target)) {
        throw new TransferRefused('--to leads to the present event store itself: name another one')
      }
      const source = await logOf(store)
      const transferred = await transfer(source, target, options)
      return { ...transferred, sourceMovedOn: await store.head() > source.head }
    }))
}

function placeOf ({ to: url, toCaFile }: CopyTarget): StorePlace {
  const [caFile, from] = toCaFile === undefined
    ? [process.env.EVENTSTORE_CA_FILE, 'EVENTSTORE_CA_FILE']
    : [toCaFile, '--to-ca-file']
  return { what: 'The target', url, caFile, settings: { url: '--to', caFile: from } }
}
