// Copies the log of the present event store to another one.
import { reachable } from '../../composition/back-end-unreachable.js'
import { isSameLog, logOf, transfer, type Transferred, TransferRefused } from '@ringledger/event-transfer'
import type { Operation } from '../running/operation.js'
import { storeAt, withPresentStore, withStore } from './stores.js'

/** @returns what was transferred, and whether the source has moved on meanwhile */
export async function copyLog (
  to: string, options: Operation & { inFlight: number }
): Promise<Transferred & { sourceMovedOn: boolean }> {
  return await withStore(storeAt(to, '--to'), options.signal, async (target) => {
    await reachable('The target', '--to', target.head())
    return await withPresentStore('copy', options.signal, async (store) => {
      if (await isSameLog(store, target)) {
        throw new TransferRefused('--to leads to the present event store itself: name another one')
      }
      const source = await logOf(store)
      const transferred = await transfer(source, target, options)
      return { ...transferred, sourceMovedOn: await store.head() > source.head }
    })
  })
}
