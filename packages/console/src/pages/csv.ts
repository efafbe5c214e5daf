// What a file of leads will be read as, for the preview, and what of it failed: the service reads it again, as a whole.

interface Row {
  /** As the service counts them: the header line is 0, and empty ones count. */
  row: number
  /** Where it begins in the file, from 1. */
  line: number
  cells: string[]
}

/** Those with something in them, the header line first. A quote in a quoted cell is doubled. */
function rowsOf (text: string, separator: string): Row[] {
  const rows: Row[] = [{ row: 0, line: 1, cells: [] }]
  let cell = ''
  let line = 1
  let isQuoted = false
  const end = () => {
    rows.at(-1)?.cells.push(cell)
    cell = ''
  }
  for (let at = 0; at < text.length; at++) {
    const char = text[at]
    const isEnd = char === '\n' || (char === '\r' && text[at + 1] !== '\n')
    if (isEnd) line++
    if (isQuoted) {
      if (char !== '"') cell += char
      else if (text[at + 1] === '"') cell += text[++at]
      else isQuoted = false
    } else if (char === '"') isQuoted = true
    else if (char === separator) end()
    else if (isEnd) {
      end()
      rows.push({ row: 0, line, cells: [] })
    } else if (char !== '\r') cell += char
  }
  end()
  const isFilled = ({ cells }: Row) => cells.some((each) => each.trim() !== '')
  const first = rows.findIndex(isFilled)
  return rows.map((each, index) => ({ ...each, row: index - first })).filter(isFilled)
}

const same = (name: string) => name.toLowerCase().replaceAll(/[\s_]+/g, '')
const separators = [',', ';', '\t']

/** Nothing where no column is the phone number. */
async function read (file: Blob): Promise<{ header: string[], rows: Row[], separator: string } | undefined> {
  const bytes = new Uint8Array(await file.arrayBuffer())
  const [a, b] = bytes
  const isLittle = (a === 0xff && b === 0xfe) || (a !== 0 && b === 0)
  const encoding = isLittle ? 'utf-16le' : (a === 0xfe && b === 0xff) || a === 0 ? 'utf-16be' : 'utf-8'
  const text = new TextDecoder(encoding).decode(bytes)
  const [first = ''] = text.trimStart().split(/[\r\n]/, 1)
  const separator = separators.find((each) => rowsOf(first, each)[0]?.cells.some((name) => same(name) === 'phonenumber'))
  if (separator === undefined) return undefined
  const [header, ...rows] = rowsOf(text, separator)
  return { header: header?.cells ?? [], rows, separator }
}

function fileOf (rows: readonly string[][], separator: string): Blob {
  const quoted = (cell: string) => /["\r\n]/.test(cell) || cell.includes(separator) ? `"${cell.replaceAll('"', '""')}"` : cell
  return new Blob(['\ufeff', ...rows.map((cells) => `${cells.map(quoted).join(separator)}\r\n`)], { type: 'text/csv' })
}

export interface Preview {
  columns: { name: string, becomes: string }[]
  rows: string[][]
  problem?: string
}

const known: Record<string, string> = { phonenumber: 'the phone number', customername: 'the name', email: 'the e-mail address' }
const previewBytes = 64 * 1024
const previewRows = 5

export async function previewOf (file: Blob): Promise<Preview> {
  const found = await read(file.slice(0, previewBytes))
  if (!found) return { columns: [], rows: [], problem: 'The first line must name the columns, and one of them phone_number.' }
  const rows = file.size > previewBytes ? found.rows.slice(0, -1) : found.rows // it may end in the middle of a row
  return {
    columns: found.header.map((name) => ({ name, becomes: known[same(name)] ?? `the variable ${name}` })),
    rows: rows.slice(0, previewRows).map(({ cells }) => cells)
  }
}

export const countRows = async (file: Blob) => (await read(file))?.rows.length ?? 0

/** What is said of failed rows, in columns before theirs. */
const findings = ['import_line', 'import_error']

/** Rows that became no lead, as the file has them, with line and error; without a file the API's rows. */
export async function failedRows (results: Blob, file?: Blob): Promise<Blob> {
  const [names = [], ...ended] = rowsOf(await results.text(), ',').map(({ cells }) => cells)
  const isRefused = ([, outcome]: string[]) => outcome === 'invalid'
  const found = file && await read(file)
  if (!found) return fileOf([names, ...ended.filter(isRefused)], ',')
  const errors = new Map(ended.map((cells) => [cells[0], isRefused(cells) ? cells[3] : undefined]))
  const failed = found.rows.flatMap(({ row, line, cells }) => {
    const error = errors.has(String(row)) ? errors.get(String(row)) : 'was not read'
    return error === undefined ? [] : [[String(line), error, ...cells]]
  })
  return fileOf([[...findings, ...found.header], ...failed], found.separator)
}

/** A copy, which stays as it is while the file is mended. It is without what a file of failed rows says of them. */
export async function fileToSend (file: File): Promise<File> {
  const isOwn = (await read(file.slice(0, previewBytes)))?.header.map((name) => !findings.includes(name))
  const found = isOwn?.includes(false) ? await read(file) : undefined
  if (!found) return new File([await file.arrayBuffer()], file.name)
  const own = (cells: string[]) => cells.filter((_, index) => isOwn?.[index] ?? true)
  const rows = [found.header, ...found.rows.map(({ cells }) => cells)]
  return new File([fileOf(rows.map(own), found.separator)], file.name)
}
