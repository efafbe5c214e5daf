// `ringledger events copy`, `export` and `import`: the whole log, to another event store, to a file and back.
import { createWriteStream } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { reachable } from '../composition/back-end-unreachable.js'
import { loadConfig } from '../config.js'
import { exportTo, exportToFile } from '../event-transfer/export-events.js'
import { openExport } from '../event-transfer/import-file.js'
import { TransferRefused } from '../event-transfer/refused.js'
import { openStore, type Store } from '../event-transfer/store.js'
import { isSameLog, logOf, transfer, type Transferred } from '../event-transfer/transfer.js'
import { openBackEnds, say } from './running/back-ends.js'
import { operate, type Operation } from './running/operation.js'

const again = 'stopped before its end: run the same command again'

export interface CopyOptions {
  to: string
  inFlight: number
  json?: boolean
}

export interface ImportOptions {
  inFlight: number
  allowTruncated?: boolean
  json?: boolean
}

/** Copies everything up to the present head, and says when the source has moved on meanwhile. */
export async function copyEvents ({ to, inFlight, json }: CopyOptions): Promise<void> {
  const { sourceMovedOn, ...transferred } = await operate(again, (operation) => withStore(openStore(to, '--to'), operation, async (target) => {
    await reachable('The target', '--to', target.head())
    return await withPresentStore('copy', operation, async (store) => {
      if (await isSameLog(store, target)) throw new TransferRefused('--to leads to the present event store itself: name another one')
      const source = await logOf(store)
      return { ...await transfer(source, target, { inFlight, ...operation }), sourceMovedOn: await store.head() > source.head }
    })
  }))
  tell(transferred, json, { source_moved_on: sourceMovedOn })
  if (sourceMovedOn) say('The source has new events since this copy began: stop what writes to it, and copy again; only the new ones are sent.')
}

/** Writes the whole log to a file, or to stdout. */
export async function exportEvents (file: string): Promise<void> {
  const { events, streams, sha256 } = await operate(again, (operation) => withPresentStore('export', operation, async (store) => {
    const source = await logOf(store)
    return await (file === '-' ? exportTo(process.stdout, source, operation) : exportToFile(file, source, operation))
  }))
  say(`Exported ${events} events of ${streams} streams to ${file === '-' ? 'stdout' : file}. SHA-256 ${sha256}`)
}

/** Brings the events of an export into the present event store; what it has already is compared. */
export async function importEvents (file: string, { inFlight, allowTruncated = false, json }: ImportOptions): Promise<void> {
  tell(await operate(again, (operation) => withFile(file, operation, async (path) => {
    const source = await openExport(path, { allowTruncated, ...operation })
    return await withPresentStore('import', operation, (store) => transfer(source, store, { inFlight, ...operation }))
  })), json)
}

/** Stdin comes once, and an export is read twice, to its last line first: nothing is taken from half of one. */
async function withFile<Result> (file: string, { signal }: Operation, work: (path: string) => Promise<Result>): Promise<Result> {
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

/** Runs `work` on the event store of EVENTSTORE_URL, of the running `start`, or on an embedded one for as long as it takes. */
async function withPresentStore<Result> (command: string, operation: Operation, work: (store: Store) => Promise<Result>): Promise<Result> {
  const { url, close } = await presentStore(`ringledger events ${command}`)
  try {
    return await withStore(openStore(url, 'EVENTSTORE_URL'), operation, async (store) => {
      await reachable('The event store', 'EVENTSTORE_URL', store.head())
      return await work(store)
    })
  } finally {
    await close()
  }
}

async function withStore<Result> (store: Store, { signal }: Operation, work: (store: Store) => Promise<Result>): Promise<Result> {
  const breakOff = () => { void store.close() } // ends what waits for it
  signal.addEventListener('abort', breakOff, { once: true })
  try {
    signal.throwIfAborted()
    return await work(store)
  } finally {
    signal.removeEventListener('abort', breakOff)
    await store.close()
  }
}

/** Of the settings only those of the event store count here: no secrets are asked for. */
async function presentStore (command: string): Promise<{ url: string, close (): Promise<void> }> {
  const { DATA_DIR, DATABASE_URL, EVENTSTORE_URL } = process.env
  if (EVENTSTORE_URL) return { url: EVENTSTORE_URL, close: async () => {} }
  const config = { ...loadConfig({ DATA_DIR }), backEnds: { databaseUrl: DATABASE_URL || undefined } }
  const { urls, close } = await openBackEnds(config, 'command', command)
  return { url: urls.eventStoreUrl, close }
}

function tell ({ events, streams, sha256, appended, others, position }: Transferred, json?: boolean, more: object = {}): void {
  const places = { source: String(position.source), target: String(position.target) }
  if (json) return void process.stdout.write(`${JSON.stringify({ events, streams, sha256, appended, others, position: places, ...more }, undefined, 2)}\n`)
  process.stdout.write([
    `Appended ${appended} events; the target has all ${events} events of ${streams} streams now.`,
    'Read back and compared: order, stream, revision, id, type, data and metadata of each are the same.',
    `SHA-256 ${sha256}`,
    `The last one stands at position ${places.source} of the source and ${places.target} of the target.`,
    ...(others > 0 ? [`The target has ${others} further events in streams that the source does not know; they were left alone.`] : []),
    ''
  ].join('\n'))
}
