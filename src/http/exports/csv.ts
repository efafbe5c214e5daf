// Lines of CSV (RFC 4180) that no spreadsheet takes for formulas.

export type Cell = string | number | null | undefined

/** A line with its end. */
export const csvLine = (cells: readonly Cell[]) => `${cells.map(cellOf).join(',')}\r\n`

function cellOf (cell: Cell): string {
  if (cell === null || cell === undefined) return ''
  const text = typeof cell === 'number' ? String(cell) : harmless(cell)
  return /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** What a spreadsheet may take for a formula, in ASCII or in full width (OWASP, CSV injection). */
const formula = /^[=+\-@\t\r\n＝＋－＠|%]/

/** A phone number is digits behind its plus sign, and computes nothing; so does a negative number. */
const harmlessNumber = /^(\+[1-9]\d{1,14}|-\d{1,15}(\.\d{1,15})?)$/

/** With an apostrophe before it, a spreadsheet shows it as it is. */
const harmless = (text: string) => formula.test(text) && !harmlessNumber.test(text) ? `'${text}` : text
