// What every export does: read from one snapshot, write line by line, and end when its reader is gone.
import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import Type, { type TSchema } from 'typebox'
import { invalid } from '../../domain/rejection.js'
import { fileName } from '../docs/describe.js'
import { TooManyReads } from '../limits/read-slots.js'
import { untilGone } from '../limits/while-answering.js'
import { csvLine, type Cell } from './csv.js'
import { spooled } from './spooled.js'

const formats = ['csv', 'ndjson'] as const
export type Format = typeof formats[number]

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

export interface Asked { format: Format, bom: boolean }

const types: Record<Format, string> = { csv: 'text/csv', ndjson: 'application/x-ndjson' }

/** One kind of rows, as it is exported. */
export interface Exported<Item> {
  /** Of the file, without its ending. */
  name: string
  columns: ReadonlyArray<readonly [name: string, cellOf: (item: Item) => Cell]>
}

/** Hands on all items, part by part, from one snapshot. */
export type ReadAll<Item> = (visit: (items: Item[]) => Promise<void>, signal: AbortSignal) => Promise<void>

/**
 * Answers with every item. The first part is read before anything is sent, so that what fails at once is an answer like
 * any other. What fails later cuts the answer off: it ends without its last chunk.
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
  const { body, write, end, cutOff } = spooled(gone, { stall: (giveUp) => places.stall(giveUp) })
  const lineOf = asked === 'csv' ? csvOf(columns) : ndjsonOf
  const header = asked === 'csv' ? (bom ? '\uFEFF' : '') + headerOf(columns) : ''
  await new Promise<void>((resolve, reject) => {
    let text = header
    const reading = readAll(async (items) => {
      text += items.map(lineOf).join('')
      resolve()
      await write(text)
      text = ''
    }, gone)
    reading.finally(release).then(async () => {
      resolve()
      if (text !== '') await write(text)
      await end()
    }).catch((cause: unknown) => {
      const error = cause instanceof Error ? cause : new Error('an export was cut off', { cause })
      void cutOff(error)
      if (gone.aborted) return resolve() // nobody is there to be told
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

/** An export of one item in CSV, as an example; in the other format it is as the list has it. */
export const csvExample = <Item>({ columns }: Exported<Item>, item: Item): string =>
  headerOf(columns) + csvOf(columns)(item)

/** The successful answer, described: a file in either format. */
export function exportAnswer (description: string, name: string, csv: string): TSchema {
  const content = { 'text/csv': { schema: Type.String(), example: csv }, 'application/x-ndjson': { schema: Type.String() } }
  return { 'x-response-description': description, headers: fileName(name), content }
}
