// CSV (RFC 4180): writes lines that no spreadsheet takes for formulas, and reads the records of files that arrive.
import { CsvError, type InfoRecord, parse } from 'csv-parse'
import { Readable } from 'node:stream'
import { invalid, Rejection } from '../domain/rejection.js'
import { decoder, NotText } from '../text-files.js'

export type Cell = string | number | null | undefined

/** Ends with a line break. */
export const csvLine = (cells: readonly Cell[]) => `${cells.map(cellOf).join(',')}\r\n`

function cellOf (cell: Cell): string {
  if (cell === null || cell === undefined) return ''
  const text = typeof cell === 'number' ? String(cell) : harmless(cell)
  return /[",;\t\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/**
 * Where a spreadsheet may read a formula, in ASCII or in full width (OWASP, CSV injection): at the beginning of a text
 * and, even in quotes, after a semicolon, tab or line break, which may end a cell there.
 */
const formulasBehind = (mark: string) => new RegExp([
  String.raw`^${mark}(?=[ \u00a0"']*[=+\-@\t\r\n＝＋－＠|%])`, String.raw`(?<=[;\t\r\n])${mark}(?=[ \u00a0"']*[=+\-@＝＋－＠|%])`
].join('|'), 'g')
const [formulas, apostrophes] = [formulasBehind(''), formulasBehind("'")]

/** A phone number or a negative number begins like a formula, but computes nothing. */
const harmlessNumber = /^(\+[1-9]\d{1,14}|-\d{1,15}(\.\d{1,15})?)$/

/** A spreadsheet shows a text after an apostrophe as it is. */
const harmless = (text: string) => harmlessNumber.test(text) ? text : text.replace(formulas, "'")

/** Removes the apostrophes that `harmless` put in. */
export const asItWas = (text: string) => text.replace(apostrophes, '')

// Reads CSV (RFC 4180) as it arrives, record by record, in bounded memory.

interface CsvLimits {
  /** Bytes of the whole body. */
  mostBytes: number
  /** Bytes of one record: a quote that is never closed would take the rest of the file. */
  mostRecordBytes: number
  /** Empty rows count. */
  mostRows?: number
}

/** The header line is row 0. */
export type CsvRecord = string[] & { row: number }

/**
 * Yields every record, the header line first; skips empty ones, which still count as rows. If reading stops, `source`
 * stays open, so that the sender can be answered. Commas separate cells, unless semicolons or tabs make `key` a cell of
 * its own in the header line, as where decimals have a comma.
 * @throws Rejection `invalid` naming the row that cannot be read (the first one after the header is 1), or `too-large`
 */
export async function * csvRecords (
  source: Readable, { mostBytes, mostRecordBytes, mostRows = Infinity }: CsvLimits, key = ''
): AsyncGenerator<CsvRecord> {
  const pieces = decoded(source, mostBytes)
  const { head, delimiter } = await headOf(pieces, mostRecordBytes, key)
  let first: number | undefined // row of the header line
  let others = 0 // rows without the empty lines, which the parser counts
  const rowOf = (emptyLines: unknown) => others + Number(emptyLines) - (first ?? others + Number(emptyLines))
  const numbered = (cells: string[], { empty_lines: emptyLines }: InfoRecord): CsvRecord | null => {
    const isBlank = cells.every((cell) => cell.trim() === '')
    if (!isBlank) first ??= others + emptyLines
    const row = rowOf(emptyLines)
    if (row > mostRows) throw invalid({ body: [`must have at most ${mostRows} rows`] })
    others++
    return isBlank ? null : Object.assign(cells, { row })
  }
  const parser = parse({
    on_record: numbered,
    delimiter,
    record_delimiter: ['\r\n', '\n', '\r'],
    relax_column_count: true, // the caller checks it, and can name the row
    skip_empty_lines: true, // a record of nothing would take 40 µs
    max_record_size: mostRecordBytes
  })
  const text = Readable.from(joined(head, pieces))
  text.on('error', (error) => parser.destroy(error))
  text.pipe(parser)
  try {
    for await (const record of parser) yield record
  } catch (error) {
    if (!(error instanceof CsvError)) throw error
    const row = rowOf(error.empty_lines)
    const where = row === 0 ? 'the header line' : `row ${row}`
    throw invalid({ body: [`${where} cannot be read: ${reasons[error.code] ?? error.code}`] })
  } finally {
    text.destroy()
    void pieces.return(undefined) // if `joined` has not begun to read them, nothing else lets go of `source`
  }
}

async function * decoded (source: Readable, mostBytes: number): AsyncGenerator<string> {
  const decode = decoder()
  let bytes = 0
  const textOf = (chunk?: Buffer) => {
    try {
      return decode(chunk)
    } catch (error) {
      throw error instanceof NotText ? invalid({ body: [`must be UTF-8: ${error.message}`] }) : error
    }
  }
  for await (const chunk of source.iterator({ destroyOnReturn: false })) {
    bytes += chunk.length
    if (bytes > mostBytes) throw new Rejection('too-large', `The file is larger than ${mostBytes / 2 ** 20} MiB.`)
    const text = textOf(chunk)
    if (text !== '') yield text
  }
  const rest = textOf()
  if (rest !== '') yield rest
}

const delimiters = [',', ';', '\t']

/** Reads up to the header line. Looks for it again whenever the text has doubled. */
async function headOf (pieces: AsyncGenerator<string>, longest: number, key: string) {
  let head = ''
  let looked = 0
  for (;;) {
    const { value, done } = await pieces.next()
    head += value ?? ''
    if (!done && head.length < Math.min(2 * looked, longest)) continue
    looked = head.length
    const lines = `${head}${done ? '\n' : ''}`.split(/[\r\n]+/).slice(0, -1)
    const header = lines.find((line) => /[^\s,;]/.test(line))
    if (header === undefined && !done && head.length < longest) continue
    const stands = (delimiter: string) => header?.split(delimiter).some((cell) => plain(cell.replaceAll('"', '')) === key)
    return { head, delimiter: delimiters.find(stands) ?? ',' }
  }
}

/** The form in which column names are compared. */
export const plain = (name: string) => name.toLowerCase().replace(/[\s_]+/g, '')

/** Bytes that are parsed before others get a turn. */
const atOnce = 4 * 1024

async function * joined (head: string, pieces: AsyncGenerator<string>): AsyncGenerator<Buffer> {
  yield * cut(head)
  for await (const piece of pieces) yield * cut(piece)
}

function * cut (text: string): Generator<Buffer> {
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; at += atOnce) yield bytes.subarray(at, at + atOnce)
}

const reasons: Record<string, string> = {
  CSV_QUOTE_NOT_CLOSED: 'a quote is never closed',
  CSV_INVALID_CLOSING_QUOTE: 'a quote inside a quoted cell is not doubled',
  INVALID_OPENING_QUOTE: 'a cell with a quote in it is not quoted',
  CSV_MAX_RECORD_SIZE: 'it is too long, or a quote is never closed'
}
