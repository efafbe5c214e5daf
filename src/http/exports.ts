// What every export does: read from one snapshot, write line by line, and end when its reader is gone.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { once } from 'node:events'
import { createReadStream } from 'node:fs'
import { type FileHandle, mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough, Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import Type, { type TSchema } from 'typebox'
import { invalid } from '../domain/rejection.js'
import { type Cell, csvLine } from './csv.js'
import { fileName } from './docs/describe.js'
import { TooManyReads, untilGone } from './limits.js'

const formats = ['csv', 'ndjson'] as const
type Format = typeof formats[number]

/** The query parameter of every export. */
export const format = Type.Enum([...formats], {
  title: 'ExportFormat',
  default: 'csv',
  description: '`csv`: RFC 4180 with a header line; `ndjson`: an object a line, as the list has it.'
})

/** The query parameter of every export that may be CSV. */
export const bom = Type.Boolean({
  default: false,
  description: 'CSV begins with a byte order mark, by which Excel knows UTF-8.'
})

interface Asked { format: Format, bom: boolean }

const types: Record<Format, string> = { csv: 'text/csv', ndjson: 'application/x-ndjson' }

/** How one kind of rows is exported. */
export interface Exported<Item> {
  /** The file name without its ending. */
  name: string
  columns: ReadonlyArray<readonly [name: string, cellOf: (item: Item) => Cell]>
}

/** Columns that hold the item's fields of these names. */
export const namesAsColumns = <const Name extends string>(names: readonly Name[]) => names.map((name) =>
  [name, (item: { readonly [name in Name]?: Cell }) => item[name]] as const)

/** Passes on all items in batches, from one snapshot. */
type ReadAll<Item> = (visit: (items: Item[]) => Promise<void>, signal: AbortSignal) => Promise<void>

/** Characters of one write. */
const atOnce = 64 * 1024

/**
 * Answers with every item. Reads the first batch before it sends anything, so that an early error is an answer like any
 * other. A later error cuts the answer off: it ends without its last chunk.
 */
export async function sendExport<Item> (
  request: FastifyRequest, reply: FastifyReply, { format: asked, bom }: Asked, { name, columns }: Exported<Item>,
  readAll: ReadAll<Item>
): Promise<FastifyReply> {
  if (bom && asked !== 'csv') throw invalid({ bom: [onlyCsv] })
  const asFile = () => reply.type(`${types[asked]}; charset=utf-8`)
    .header('content-disposition', `attachment; filename="${name}.${asked}"`)
  if (request.method === 'HEAD') return await asFile().send(Readable.from([])) // nothing is read for headers, and no length is known
  const gone = untilGone(request, reply)
  const places = request.server.exportPlaces
  const release = await places.acquire(gone)
  if (!release) throw new TooManyReads('Too many exports are being read: try again in a moment.')
  const { body, write, end, cutOff } = spooled(gone, (giveUp) => places.stall(giveUp))
  const lineOf = asked === 'csv' ? csvOf(columns) : ndjsonOf
  const header = asked === 'csv' ? (bom ? '\uFEFF' : '') + headerOf(columns) : ''
  await new Promise<void>((resolve, reject) => {
    let text = header
    const reading = readAll(async (items) => {
      resolve()
      let until = 0 // each batch begins with a burst of its own
      for (const item of items) {
        if (performance.now() >= until) until = await places.bursts.next()
        text += lineOf(item)
        if (text.length < atOnce) continue
        await write(text)
        text = ''
      }
    }, gone)
    reading.finally(release).then(async () => {
      resolve()
      if (text !== '') await write(text)
      await end()
    }).catch((cause: unknown) => {
      const error = cause instanceof Error ? cause : new Error('an export was cut off', { cause })
      void cutOff(error)
      if (gone.aborted) return resolve() // no reader is left
      request.log.warn({ err: error }, 'an export was cut off')
      reject(error)
    })
  })
  return await asFile().send(body)
}

export const onlyCsv = 'is only for CSV'

type Columns<Item> = Exported<Item>['columns']

const headerOf = <Item>(columns: Columns<Item>) => csvLine(columns.map(([column]) => column))
const csvOf = <Item>(columns: Columns<Item>) => (item: Item) => csvLine(columns.map(([, cellOf]) => cellOf(item)))
const ndjsonOf = (item: unknown) => `${JSON.stringify(item)}\n`

/** A CSV example with one item; the other format is as the list has it. */
export const csvExample = <Item>({ columns }: Exported<Item>, item: Item): string =>
  headerOf(columns) + csvOf(columns)(item)

/** The successful answer, described: a file in either format. */
export function exportAnswer (description: string, name: string, csv: string): TSchema {
  const content = { 'text/csv': { schema: Type.String(), example: csv }, 'application/x-ndjson': { schema: Type.String() } }
  return { 'x-response-description': description, headers: fileName(name), content }
}

// Writes a long answer as fast as its reader takes it. If that is slow, the rest goes to a file, and the producer ends.

const bufferBytes = 256 * 1024
/** A reader that takes fewer bytes in that time is slow. */
const least = { bytes: 64 * 1024, inMs: 5_000 }
/** How long a reader may hold its producer up in all, and how long it may read the file, in milliseconds. */
const [afterMs, wholeMs] = [60_000, 3_600_000]

/** Called while the reader holds its producer up: `giveUp` sends the rest to the file. @returns ends that */
type Stall = (giveUp: () => void) => () => void

/** @param signal aborted when the reader is gone */
function spooled (signal: AbortSignal, stall: Stall) {
  const body = new PassThrough({ highWaterMark: bufferBytes })
  body.on('error', () => {}) // its writer and its reader get the error
  const lateAt = performance.now() + afterMs
  let file: FileHandle | undefined
  return {
    body,
    /** Resolves when more may be written. @throws `signal.reason`, errors of the disk */
    async write (chunk: string): Promise<void> {
      signal.throwIfAborted()
      if (file) return void await file.appendFile(chunk)
      if (body.write(chunk)) return
      if (await drained(body, signal, stall, lateAt)) return
      file = await unnamedFile()
    },
    /** Call it after the last write. Resolves when the reader has everything. */
    async end (): Promise<void> {
      if (!file) return void body.end()
      const deadline = AbortSignal.any([signal, AbortSignal.timeout(wholeMs)])
      await pipeline(createReadStream('', { fd: file, start: 0 }), body, { signal: deadline })
    },
    /** Ends the answer without the rest. */
    async cutOff (error: Error): Promise<void> {
      body.destroy(error)
      await file?.close().catch(() => {}) // the pipeline may have closed it
    }
  }
}

/** Whether the reader caught up in time. @throws `signal.reason` */
async function drained (
  body: PassThrough, signal: AbortSignal, stall: Stall, lateAt: number
): Promise<boolean> {
  const late = new AbortController()
  const giveUp = () => { late.abort() }
  const left = () => body.writableLength + body.readableLength
  let before = left()
  const timer = setInterval(() => {
    if (before - left() < least.bytes || performance.now() > lateAt) giveUp()
    before = left()
  }, least.inMs)
  const forget = stall(giveUp)
  try {
    await once(body, 'drain', { signal: AbortSignal.any([signal, late.signal]) })
    return true
  } catch (error) {
    signal.throwIfAborted()
    if (late.signal.aborted) return false
    throw error
  } finally {
    clearInterval(timer)
    forget()
  }
}

/** Without a name, the file disappears with the process, however that ends. */
async function unnamedFile (): Promise<FileHandle> {
  const folder = await mkdtemp(join(tmpdir(), 'ringledger-export-'))
  try {
    return await open(join(folder, 'rows'), 'wx+', 0o600)
  } finally {
    await rm(folder, { recursive: true })
  }
}
