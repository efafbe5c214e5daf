// `ringledger events copy`, `export` and `import`: the whole log, to another event store, to a file and back.
import { createWriteStream } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { reachable } from '../back-end-unreachable.js'
import { loadConfig } from '../config.js'
import { exportTo, exportToFile } from '../event-transfer/export-events.js'
import { openExport } from '../event-transfer/import-file.js'
import { TransferRefused } from '../event-transfer/refused.js'
import { openStore, type Store } from '../event-transfer/store.js'
import { isSameLog, logOf, transfer, type Transferred } from '../event-transfer/transfer.js'
import { openBackEnds, say } from './back-ends.js'
import { viewProgress, type ProgressView } from './progress.js'
import { onShutdown } from './shutdown.js'

interface Session {
  store: Store
  signal: AbortSignal
  onProgress: ProgressView['update']
}

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
  const target = openStore(to, '--to')
  await withStore('copy', async ({ store, signal, onProgress }) => {
    signal.addEventListener('abort', () => { void target.close() }, { once: true }) // breaks off what waits for it
    try {
      await reachable('The target', '--to', target.head())
      if (await isSameLog(store, target)) throw new TransferRefused('--to leads to the present event store itself: name another one')
      const source = await logOf(store)
      const transferred = await transfer(source, target, { inFlight, signal, onProgress })
      const sourceMovedOn = await store.head() > source.head
      tell(transferred, json, { source_moved_on: sourceMovedOn })
      if (sourceMovedOn) say('The source has new events since this copy began: stop what writes to it, and copy again; only the new ones are sent.')
    } finally {
      await target.close()
    }
  })
}

/** Writes the whole log to a file, or to stdout. */
export async function exportEvents (file: string): Promise<void> {
  const { events, streams, sha256 } = await withStore('export', async ({ store, signal, onProgress }) => {
    const source = await logOf(store)
    return await (file === '-' ? exportTo(process.stdout, source, { signal, onProgress }) : exportToFile(file, source, { signal, onProgress }))
  })
  say(`Exported ${events} events of ${streams} streams to ${file === '-' ? 'stdout' : file}. SHA-256 ${sha256}`)
}

/** Brings the events of an export into the present event store; what it has already is compared. */
export async function importEvents (file: string, { inFlight, allowTruncated = false, json }: ImportOptions): Promise<void> {
  const spooled = file === '-' ? await spool() : undefined
  try {
    await withStore('import', async ({ store, signal, onProgress }) => {
      const source = await openExport(spooled?.file ?? file, { allowTruncated, signal, onProgress })
      tell(await transfer(source, store, { inFlight, signal, onProgress }), json)
    })
  } finally {
    await spooled?.remove()
  }
}

/** Stdin comes once, and an export is read twice: to its last line first, so that nothing is taken from half of one. */
async function spool (): Promise<{ file: string, remove (): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'ringledger-import-'))
  const remove = () => rm(folder, { recursive: true, force: true })
  const file = join(folder, 'stdin')
  await pipeline(process.stdin, createWriteStream(file, { mode: 0o600 })).catch(async (error: unknown) => {
    await remove()
    throw error
  })
  return { file, remove }
}

/** Runs `work` on the present event store: that of EVENTSTORE_URL, of the running `start`, or an embedded one for as long as it takes. */
async function withStore<Result> (command: string, work: (session: Session) => Promise<Result>): Promise<Result> {
  return await onShutdown().during(async (signal) => {
    const { url, close } = await presentStore(`ringledger events ${command}`)
    const view = viewProgress()
    const store = openStore(url, 'EVENTSTORE_URL')
    signal.addEventListener('abort', () => { void store.close() }, { once: true })
    try {
      await reachable('The event store', 'EVENTSTORE_URL', store.head())
      return await work({ store, signal, onProgress: view.update })
    } catch (error) {
      signal.throwIfAborted()
      throw error
    } finally {
      view.stop()
      await store.close()
      await close()
    }
  })
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
