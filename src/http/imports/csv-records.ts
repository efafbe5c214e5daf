// Reads CSV (RFC 4180) as it arrives, record by record, in bounded memory.
import { Readable } from 'node:stream'
import { CsvError, parse } from 'csv-parse'
import { TooManyBodies } from '../limits/body-budget.js'
import { Rejection, invalid } from '../../domain/rejection.js'

export interface CsvLimits {
  /** Of the whole body. */
  mostBytes: number
  /** Of one record: a quote that is never closed would take the rest of the file. */
  mostRecordBytes: number
}

/**
 * Every record, the header line first; a byte order mark and lines that are empty are passed over. What stops the
 * reading leaves `source` open, so that the sender can be answered.
 * @throws Rejection `invalid` naming the row that cannot be read (the first one after the header is 1), or `too-large`,
 * and an error with status 400 when the sender is gone
 */
export async function * csvRecords (
  source: Readable, { mostBytes, mostRecordBytes }: CsvLimits
): AsyncGenerator<string[]> {
  const parser = parse({
    record_delimiter: ['\r\n', '\n', '\r'],
    relax_column_count: true, // counted by who reads, who can name the row
    skip_empty_lines: true,
    max_record_size: mostRecordBytes
  })
  const text = Readable.from(decoded(source, mostBytes))
  text.on('error', (error) => parser.destroy(error))
  text.pipe(parser)
  try {
    for await (const record of parser) yield record
  } catch (error) {
    throw error instanceof CsvError ? unreadable(error) : error
  } finally {
    text.destroy()
  }
}

async function * decoded (source: Readable, mostBytes: number): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true }) // drops a byte order mark
  let bytes = 0
  const textOf = (chunk?: Buffer) => {
    try {
      return decoder.decode(chunk, { stream: chunk !== undefined })
    } catch {
      throw invalid({ body: [`must be UTF-8; it is not, within the first ${bytes} bytes`] })
    }
  }
  for await (const chunk of chunksOf(source)) {
    bytes += chunk.length
    if (bytes > mostBytes) throw new Rejection('too-large', `The file is larger than ${mostBytes / 2 ** 20} MiB.`)
    const text = textOf(chunk)
    if (text !== '') yield text
  }
  const rest = textOf()
  if (rest !== '') yield rest
}

/** Without its own words, those of a lost socket would be taken for an outage of a back end. */
class BrokenOff extends Error {
  override readonly name = 'BrokenOff'
  readonly statusCode = 400
}

async function * chunksOf (source: Readable): AsyncGenerator<Buffer> {
  try {
    yield * source.iterator({ destroyOnReturn: false })
  } catch (cause) {
    if (cause instanceof TooManyBodies) throw cause
    throw new BrokenOff('The body broke off.', { cause })
  }
}

const reasons: Record<string, string> = {
  CSV_QUOTE_NOT_CLOSED: 'a quote is never closed',
  CSV_INVALID_CLOSING_QUOTE: 'a quote inside a quoted cell is not doubled',
  INVALID_OPENING_QUOTE: 'a cell with a quote in it is not quoted',
  CSV_MAX_RECORD_SIZE: 'it is too long, or a quote is never closed'
}

/** `records` counts those before it, the header among them. */
function unreadable ({ code, records }: CsvError): Rejection {
  const row = typeof records === 'number' ? records : 0
  return invalid({ body: [`${row === 0 ? 'the header line' : `row ${row}`} cannot be read: ${reasons[code] ?? code}`] })
}
