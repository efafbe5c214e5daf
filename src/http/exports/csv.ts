// Lines of CSV (RFC 4180) that no spreadsheet takes for formulas.

export type Cell = string | number | null | undefined

/** A line with its end. */
export const csvLine = (cells: readonly Cell[]) => `${cells.map(cellOf).join(',')}\r\n`

function cellOf (cell: Cell): string {
  if (cell === null || cell === undefined) return ''
  const text = typeof cell === 'number' ? String(cell) : harmless(cell)
  return /[",;\t\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/**
 * Where a spreadsheet may take what follows for a formula, in ASCII or in full width (OWASP, CSV injection): at the
 * beginning, and, whatever is quoted, behind what ends a cell where semicolons or tabs do.
 */
const formulasBehind = (mark: string) => new RegExp([
  String.raw`^${mark}(?=[ \u00a0"']*[=+\-@\t\r\n＝＋－＠|%])`, String.raw`(?<=[;\t\r\n])${mark}(?=[ \u00a0"']*[=+\-@＝＋－＠|%])`
].join('|'), 'g')
const [formulas, apostrophes] = [formulasBehind(''), formulasBehind("'")]

/** A phone number is digits behind its plus sign, and computes nothing; so does a negative number. */
const harmlessNumber = /^(\+[1-9]\d{1,14}|-\d{1,15}(\.\d{1,15})?)$/

/** With an apostrophe before it, a spreadsheet shows it as it is. */
const harmless = (text: string) => harmlessNumber.test(text) ? text : text.replace(formulas, "'")

/** The text of a cell of ours, without these apostrophes. */
export const asItWas = (text: string) => text.replace(apostrophes, '')
