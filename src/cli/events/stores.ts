// Opens the event stores that a transfer reads and writes.
import { reachableHead } from '../../services/back-end-unreachable.js'
import { withCaFile } from '../../log/connection/client-url.js'
import { lentClient } from '../../log/connection/lent-client.js'
import { eventStoreProblems, type SettingNames, settingNames } from '../../log/connection/settings.js'
import { openStore, TransferRefused, type Store } from '@ringledger/event-transfer'
import { readPlaces } from '../running.js'
import { openBackEnds, type Makes } from '../running.js'

/** Where a store is, and which settings lead there: those of the present event store unless given. */
export interface StorePlace {
  url: string
  caFile?: string | undefined
  /** What it is called when it does not answer. */
  what?: string
  settings?: SettingNames
}

/** @throws TransferRefused when the settings of a place are no connection string, or name a file that cannot be read */
function storeAt ({ url, caFile, settings = settingNames }: StorePlace): Store {
  const [problem] = eventStoreProblems({ EVENTSTORE_URL: url, EVENTSTORE_CA_FILE: caFile }, settings)
  if (problem !== undefined) throw new TransferRefused(`${problem.field} ${problem.message}`)
  try {
    return openStore(lentClient(withCaFile(url, caFile)))
  } catch (cause) {
    const problem = `${settings.url} is no connection string: write it as esdb://host:2113?tls=false`
    throw new TransferRefused(problem, { cause })
  }
}

/** Works with a store that answers. */
export async function withStoreAt<Result> (
  place: StorePlace, signal: AbortSignal, work: (store: Store) => Promise<Result>
): Promise<Result> {
  const { url, caFile, what = 'The event store', settings = settingNames } = place
  return await withStore(storeAt(place), signal, async (store) => {
    await reachableHead({ url: withCaFile(url, caFile), what, setting: settings.url }, () => store.head())
    return await work(store)
  })
}

/** The event store of EVENTSTORE_URL, of the running `start`, or an embedded one for as long as `work` takes. */
export async function withPresentStore<Result> (
  command: 'copy' | 'export' | 'import', signal: AbortSignal, work: (store: Store) => Promise<Result>
): Promise<Result> {
  const makes = command === 'import' ? 'all' : 'nothing' // a log may move into a new DATA_DIR
  const { url, caFile, close } = await presentStore(`ringledger events ${command}`, makes)
  try {
    return await withStoreAt({ url, caFile }, signal, work)
  } finally {
    await close()
  }
}

/** Closes the store after `work`, or as soon as `signal` is aborted: that ends what waits for the store. */
async function withStore<Result> (
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

export interface PresentStore {
  url: string
  caFile?: string | undefined
  close (): Promise<void>
}

/**
 * That of EVENTSTORE_URL, of the running `start`, or an embedded one until it is closed. Only the settings of the event
 * store count: what works with its log alone needs no secrets.
 */
export async function presentStore (command: string, makes: Makes = 'nothing'): Promise<PresentStore> {
  const { places: { databaseUrl, eventStoreUrl, eventStoreCaFile: caFile }, config } = readPlaces()
  if (eventStoreUrl) return { url: eventStoreUrl, caFile, close: async () => {} }
  const { urls, close } = await openBackEnds({ ...config, backEnds: { databaseUrl } }, { role: 'command', command, makes })
  return { url: urls.eventStoreUrl, close }
}
