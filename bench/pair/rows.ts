// Turns what was measured into rows, and prints them.
import Table from 'cli-table3'
import { median } from '../support/statistics.js'

/** Above it a row is marked. */
const tolerated = 1.05

export interface Row {
  name: string
  unit: string
  better: 'lower' | 'higher'
  ours: number
  /** Of the other checkout. */
  beside: number | null
  /** What ours costs of what the other does: below 1 ours is better, whichever way the figure counts. */
  ratio: number | null
  isAbove: boolean
}

/** Of every round of one side. */
export type Values = readonly number[]

/** @param sides ours, and the other one where there is one */
export function rowOf (name: string, unit: string, sides: readonly Values[], better: Row['better'] = 'lower'): Row {
  const [ours = NaN, beside = null] = sides.map(median)
  const quotient = beside === null ? null : better === 'lower' ? ours / beside : beside / ours
  const ratio = quotient !== null && Number.isFinite(quotient) ? quotient : null
  return { name, unit, better, ours, beside, ratio, isAbove: ratio !== null && ratio > tolerated }
}

export interface Missing { name: string, reason: string }

export function table (rows: readonly Row[], missing: readonly Missing[]): string {
  const head = ['', 'unit', 'better', 'ours', 'beside', 'ratio', `above ${tolerated}`]
  const table = new Table({ head, style: { head: [], border: [] }, chars: { mid: '', 'left-mid': '', 'mid-mid': '', 'right-mid': '' } })
  for (const { name, unit, better, ours, beside, ratio, isAbove } of rows) {
    table.push([name, unit, better, number(ours), number(beside), ratio?.toFixed(2) ?? '', isAbove ? 'ABOVE' : ''])
  }
  const above = rows.filter(({ isAbove }) => isAbove).length
  const compared = rows.filter(({ ratio }) => ratio !== null).length
  const absent = missing.map(({ name, reason }) => `Not measured: ${name}: ${reason}\n`).join('')
  return `${table.toString()}\n${above} of ${compared} ratios are above ${tolerated} (ours / beside in cost: below 1 is better).\n${absent}`
}

function number (value: number | null): string {
  if (value === null) return ''
  return value.toLocaleString('en', { maximumFractionDigits: value < 10 ? 2 : value < 100 ? 1 : 0 })
}
