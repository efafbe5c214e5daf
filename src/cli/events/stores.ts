// Opens the event stores that a transfer reads and writes.
import { reachable } from '../../composition/back-end-unreachable.js'
import { loadConfig } from '../../config.js'
import { urlProblems, withCaFile } from '../../event-store/connection/client-url.js'
import { lentClient } from '../../event-store/connection/lent-client.js'
import { openStore, TransferRefused, type Store } from '@ringledger/event-transfer'
import { openBackEnds } from '../running/back-ends.js'

/** @throws TransferRefused when the URL, which came from `setting`, is no connection string */
export function storeAt (url: string, setting: string): Store {
  const [problem] = urlProblems(url)
  if (problem !== undefined) throw new TransferRefused(`${setting} ${problem}`)
  try {
    return openStore(lentClient(url))
  } catch (cause) {
    throw new TransferRefused(`${setting} is no connection string: write it as esdb://host:2113?tls=false`, { cause })
  }
}

/** The event store of EVENTSTORE_URL, of the running `start`, or an embedded one for as long as `work` takes. */
export async function withPresentStore<Result> (
  command: string, signal: AbortSignal, work: (store: Store) => Promise<Result>
): Promise<Result> {
  const { url, close } = await presentStore(`ringledger events ${command}`)
  try {
    return await withStore(storeAt(url, 'EVENTSTORE_URL'), signal, async (store) => {
      await reachable('The event store', 'EVENTSTORE_URL', store.head())
      return await work(store)
    })
  } finally {
    await close()
  }
}

/** Closes the store after `work`, or as soon as `signal` is aborted: that ends what waits for the store. */
export async function withStore<Result> (
  store: Store, signal: AbortSignal, work: (store: Store) => Promise<Result>
): Promise<Result> {
  const breakOff = () => { void store.close() } // the `finally` below waits for it
  signal.addEventListener('abort', breakOff, { once: true })
  try {
    signal.throwIfAborted()
    return await work(store)
  } finally {
    signal.removeEventListener('abort', breakOff)
    await store.close()
  }
}

/** Only the settings of the event store count here: a transfer needs no secrets. */
async function presentStore (command: string): Promise<{ url: string, close (): Promise<void> }> {
  const { DATA_DIR, DATABASE_URL, EVENTSTORE_URL, EVENTSTORE_CA_FILE } = process.env
  if (EVENTSTORE_URL) return { url: withCaFile(EVENTSTORE_URL, EVENTSTORE_CA_FILE), close: async () => {} }
  const config = { ...loadConfig({ DATA_DIR }), backEnds: { databaseUrl: DATABASE_URL || undefined } }
  const { urls, close } = await openBackEnds(config, 'command', command)
  return { url: urls.eventStoreUrl, close }
}
