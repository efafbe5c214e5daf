// `ringledger events` and `event-store`: copy, export, import, adopt, mark, serve and scavenge the log.
import { createWriteStream } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import {
  exportTo, exportToFile, isSameLog, logOf, openExport, Store, transfer, TransferRefused, type Transferred
} from '@ringledger/event-transfer'
import { unusedOf, withCaFile, eventStoreProblems, settingNames, type SettingNames } from '../log/client-url.js'
import { lentClient, EventStoreConnection } from '../log/connection.js'
import { adoptLog } from '../recovery/mend.js'
import { readDatabaseState, writeMarker } from '../recovery/markers.js'
import { reachableHead } from '../services/back-end-unreachable.js'
import { decoder } from '../text-files.js'
import { answer, print, printJson, say } from './output.js'
import { openBackEnds, readPlaces, withConnections, type Makes } from './running.js'
import { operate, Shutdown } from './shutdown.js'
import { EventLog } from '../log/event-log.js'

const runAgain = 'stopped before its end: run the same command again'

interface CopyOptions {
  to: string
  /** PEM file of the CA of `to`; EVENTSTORE_CA_FILE unless given. */
  toCaFile?: string
  inFlight: number
  json?: boolean
}

/** Copies the whole log up to its present head to another event store. */
export async function copy ({ to: url, toCaFile, inFlight, json }: CopyOptions): Promise<void> {
  const [caFile, from] = toCaFile === undefined
    ? [process.env.EVENTSTORE_CA_FILE, 'EVENTSTORE_CA_FILE']
    : [toCaFile, '--to-ca-file']
  const place = { what: 'The target', url, caFile, settings: { url: '--to', caFile: from } }
  const { sourceMovedOn, ...transferred } = await operate(runAgain, (operation) =>
    withStoreAt(place, operation.signal, (target) => withPresentStore('copy', operation.signal, async (store) => {
      if (await isSameLog(store, target)) {
        throw new TransferRefused('--to leads to the present event store itself: name another one')
      }
      const source = await logOf(store)
      const transferred = await transfer(source, target, { inFlight, ...operation })
      return { ...transferred, sourceMovedOn: await store.head() > source.head }
    })))
  printTransferred(transferred, json, { source_moved_on: sourceMovedOn })
  if (!sourceMovedOn) return
  say('The source has new events since this copy began: ' +
    'stop what writes to it, and copy again; only the new ones are sent.')
}

export async function exportAll (file: string, { json }: { json?: boolean }): Promise<void> {
  if (json && file === '-') throw new Error('--json needs a FILE: the export itself goes to stdout')
  const { events, streams, sha256 } = await operate(runAgain, (operation) =>
    withPresentStore('export', operation.signal, async (store) => {
      const source = await logOf(store)
      return await (file === '-' ? exportTo(process.stdout, source, operation) : exportToFile(file, source, operation))
    }))
  answer(json, { file, events, streams, sha256 },
    `Exported ${events} events of ${streams} streams to ${file === '-' ? 'stdout' : file}. SHA-256 ${sha256}`)
}

/** Imports into the present event store, and compares what that already has. */
export async function importAll (
  file: string,
  { inFlight, allowTruncated = false, json }: { inFlight: number, allowTruncated?: boolean, json?: boolean }
): Promise<void> {
  const transferred = await operate(runAgain, (operation) => withFile(file, operation.signal, async (path) => {
    const source = await openExport(path, { allowTruncated, decoder, ...operation })
    return await withPresentStore('import', operation.signal, (store) =>
      transfer(source, store, { inFlight, ...operation }))
  }))
  printTransferred(transferred, json)
}

/** An export is read more than once: its last line shows whether it is complete. So stdin is saved to a file first. */
async function withFile<Result> (
  file: string, signal: AbortSignal, work: (path: string) => Promise<Result>
): Promise<Result> {
  if (file !== '-') return await work(file)
  const folder = await mkdtemp(join(tmpdir(), 'ringledger-import-'))
  try {
    const path = join(folder, 'stdin')
    await pipeline(process.stdin, createWriteStream(path, { mode: 0o600 }), { signal })
    return await work(path)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Prints what the target has now; `more` is only in the JSON. */
function printTransferred (transferred: Transferred, json?: boolean, more: object = {}): void {
  const { events, streams, sha256, appended, others, position } = transferred
  const positions = { source: String(position.source), target: String(position.target) }
  if (json) return printJson({ events, streams, sha256, appended, others, position: positions, ...more })
  print([
    `Appended ${appended} events; the target has all ${events} events of ${streams} streams now.`,
    'Read back and compared: order, stream, revision, id, type, data and metadata of each are the same.',
    `SHA-256 ${sha256}`,
    `The last one stands at position ${positions.source} of the source and ${positions.target} of the target.`,
    ...(others > 0
      ? [`The target has ${others} further events in streams that the source does not know; they were left alone.`]
      : []),
    ''
  ].join('\n'))
}

/** Makes the consumers follow a log that was moved, or that has lost its end. */
export async function adopt ({ json }: { json?: boolean }): Promise<void> {
  const { head, problem } = await withConnections('ringledger events adopt', ({ pool, streams }) =>
    adoptLog(pool, streams))
  if (json) return printJson({ head: String(head), problem: problem ?? null })
  say(`The consumers follow this log now, which ends at position ${head}. ` +
    'The read models are rebuilt at the next start.')
  if (problem !== undefined) say(problem)
}

/** Writes a new marker, for example after an unreadable one. */
export async function mark ({ json }: { json?: boolean }): Promise<void> {
  const revision = await withConnections('ringledger events mark', async ({ pool, streams }) => {
    await writeMarker({ pool, streams, always: true })
    return (await readDatabaseState(pool, streams)).last?.revision
  })
  answer(json, { revision: String(revision) }, `Marker ${revision} is in the log, and counts from now on.`)
}

/** A store and the settings that name it; those of the present event store unless given. */
interface StorePlace {
  url: string
  caFile: string | undefined
  /** Its name in errors. */
  what?: string
  settings?: SettingNames
}

/** Connects to the store and runs `work`. @throws TransferRefused when its settings are wrong */
async function withStoreAt<Result> (
  { url, caFile, what = 'The event store', settings = settingNames }: StorePlace, signal: AbortSignal,
  work: (store: Store) => Promise<Result>
): Promise<Result> {
  const [problem] = eventStoreProblems({ EVENTSTORE_URL: url, EVENTSTORE_CA_FILE: caFile }, settings)
  if (problem !== undefined) throw new TransferRefused(`${problem.field} ${problem.message}`)
  const unused = unusedOf(url, settings.url)
  if (unused) say(`${unused.found}. ${unused.mend}`)
  const place = withCaFile(url, caFile)
  const store = storeAt(place, settings)
  return await closing(store, signal, async () => {
    await reachableHead({ url: place, what, setting: settings.url }, () => store.head())
    return await work(store)
  })
}

function storeAt (url: string, settings: SettingNames): Store {
  try {
    return new Store(lentClient(url))
  } catch (cause) {
    const problem = `${settings.url} is no connection string: write it as esdb://host:2113?tls=false`
    throw new TransferRefused(problem, { cause })
  }
}

/** Uses EVENTSTORE_URL, the running `start`, or an embedded event store for the time of `work`. */
async function withPresentStore<Result> (
  command: 'copy' | 'export' | 'import', signal: AbortSignal, work: (store: Store) => Promise<Result>
): Promise<Result> {
  const makes = command === 'import' ? 'all' : 'nothing' // a log may move into a new DATA_DIR
  return await withPresentPlace(`ringledger events ${command}`, makes, (place) => withStoreAt(place, signal, work))
}

/** Reads only the settings of the event store: commands that need only its log need no secrets. */
async function withPresentPlace<Result> (
  command: string, makes: Makes, work: (place: Pick<StorePlace, 'url' | 'caFile'>) => Promise<Result>
): Promise<Result> {
  const { places: { databaseUrl, eventStoreUrl, eventStoreCaFile: caFile }, config } = readPlaces()
  if (eventStoreUrl) return await work({ url: eventStoreUrl, caFile })
  const { urls, close } = await openBackEnds({ ...config, backEnds: { databaseUrl } }, { role: 'command', command, makes })
  return await work({ url: urls.eventStoreUrl, caFile: undefined }).finally(close)
}

/** Closes `open` after `work`, or as soon as `signal` is aborted, which ends whatever waits for it. */
async function closing<Result> (
  open: { close (): Promise<unknown> }, signal: AbortSignal, work: () => Promise<Result>
): Promise<Result> {
  const breakOff = () => { void open.close() } // the `finally` below waits for it
  signal.addEventListener('abort', breakOff, { once: true })
  try {
    signal.throwIfAborted()
    return await work()
  } finally {
    signal.removeEventListener('abort', breakOff)
    await open.close()
  }
}

/** Prints `LISTENING <port>` once it answers. Events are in DATABASE_URL, or in the embedded Postgres of DATA_DIR. */
export async function serve ({ port }: { port: number }): Promise<void> {
  const { places: { databaseUrl }, config } = readPlaces()
  // The dummy URL keeps `openBackEnds` from starting an embedded event store: it opens only Postgres.
  const settings = { ...config, backEnds: { databaseUrl, eventStoreUrl: 'esdb://here' } }
  const shutdown = new Shutdown()
  const listening = await shutdown.during(async (signal) => {
    const { listenOnce } = await import('@ringledger/embedded-postgres')
    const listening = { port, assertCanListen: async () => { await listenOnce(port) } }
    const opened = await openBackEnds(settings, { role: 'start', command: 'ringledger event-store', makes: 'all', listening })
    shutdown.add(opened.close)
    shutdown.onLost(opened.lost)
    signal.throwIfAborted()
    const { startEventStore } = await import('@ringledger/embedded-event-store')
    const store = await startEventStore({ databaseUrl: opened.urls.databaseUrl, port, log: say })
    shutdown.add(store.close)
    shutdown.onLost(store.lost)
    return store.port
  })
  print(`LISTENING ${listening}\n`)
}

/** A real server has other users, and members with files of their own: we must not decide when it scavenges. */
const ofOperator = 'EVENTSTORE_URL leads to a real server, whose operator scavenges it: as a user of ' +
  '$admins or $ops, for each member, curl -X POST https://MEMBER:2113/admin/scavenge -u USER:PASSWORD; ' +
  'docs/eventstoredb.md, "Scavenging"'

/** Deletes hidden events for good. @throws when the event store is a real server */
export async function scavenge ({ json }: { json?: boolean }): Promise<void> {
  const { scavengeId, events, bytes } = await operate('stopped: the event store goes on by itself', async ({ signal }) => {
    return await withPresentPlace('ringledger event-store scavenge', 'nothing', async ({ url: given, caFile }) => {
      const url = withCaFile(given, caFile)
      const connection = new EventStoreConnection(url)
      return await closing(connection, signal, async () => {
        const streams = new EventLog(connection)
        await reachableHead({ url }, () => streams.head())
        const scavenged = await streams.scavenge()
        if (!scavenged) throw new Error(ofOperator)
        return scavenged
      })
    })
  })
  if (json) return printJson({ scavenge_id: scavengeId, events, bytes })
  print(`Removed ${events} events with ${bytes} bytes of data and metadata.\n`)
}
