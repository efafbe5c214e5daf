// What a file of leads will be read as, for the preview: the service reads it again, as a whole.

/** The cells of each row. A quote in a quoted cell is doubled. */
export function cellsOf (text: string, separator: string): string[][] {
  const rows: string[][] = [[]]
  let cell = ''
  let isQuoted = false
  for (let at = 0; at < text.length; at++) {
    const char = text[at]
    if (isQuoted) {
      if (char !== '"') cell += char
      else if (text[at + 1] === '"') cell += text[++at]
      else isQuoted = false
    } else if (char === '"') isQuoted = true
    else if (char === separator || char === '\n') {
      rows.at(-1)?.push(cell.replace(/\r$/, ''))
      cell = ''
      if (char === '\n') rows.push([])
    } else cell += char
  }
  rows.at(-1)?.push(cell)
  return rows.filter((cells) => cells.some((each) => each.trim() !== ''))
}

const isPhoneNumber = (name: string) => name.trim().toLowerCase().replaceAll(/\s+/g, '_') === 'phone_number'

export interface Preview {
  columns: { name: string, becomes: string }[]
  rows: string[][]
  problem?: string
}

const known: Record<string, string> = { phone_number: 'the phone number', customer_name: 'the name', email: 'the e-mail address' }
const previewBytes = 64 * 1024
const previewRows = 5

export async function previewOf (file: Blob): Promise<Preview> {
  const bytes = new Uint8Array(await file.slice(0, previewBytes).arrayBuffer())
  const encoding = bytes[0] === 0xff && bytes[1] === 0xfe ? 'utf-16le' : bytes[0] === 0xfe && bytes[1] === 0xff ? 'utf-16be' : 'utf-8'
  const text = new TextDecoder(encoding).decode(bytes)
  const separator = [',', ';', '\t'].find((each) => cellsOf(text.split('\n', 1)[0] ?? '', each)[0]?.some(isPhoneNumber))
  if (separator === undefined) return { columns: [], rows: [], problem: 'The first line must name the columns, and one of them phone_number.' }
  const [names = [], ...rows] = cellsOf(text, separator)
  const isCut = file.size > previewBytes // in the middle of a row
  const columns = names.map((name) => ({ name, becomes: known[name.trim().toLowerCase().replaceAll(/\s+/g, '_')] ?? `the variable ${name}` }))
  return { columns, rows: (isCut ? rows.slice(0, -1) : rows).slice(0, previewRows) }
}

/** Of the results of an import those of rows that became no lead. */
export async function failedRows (results: Blob): Promise<Blob> {
  const [names = [], ...rows] = cellsOf(await results.text(), ',')
  const outcome = names.indexOf('outcome')
  const quoted = (cells: string[]) => cells.map((cell) => /[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell).join(',')
  const failed = rows.filter((cells) => cells[outcome] !== 'created')
  return new Blob([[names, ...failed].map(quoted).join('\r\n'), '\r\n'], { type: 'text/csv' })
}
