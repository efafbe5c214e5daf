// Prints what the bench of commands has measured.
import Table from 'cli-table3'
import { whole } from '../support/statistics.js'
import type { Figures } from './load.js'

export interface Limit { name: string, perSecond: number, p50: number, p99: number }

export interface Row {
  name: string
  inFlight: number
  figures: Figures
  /** The raw limit, measured in the same run. */
  limit?: Limit | undefined
  /** SQL statements a request, by consumer, where they were counted. */
  statements?: Record<string, number> | undefined
}

/** The JSON, or tables for people. */
export function report (rows: Row[], limits: Limit[], asJson: boolean): void {
  if (asJson) return void process.stdout.write(`${JSON.stringify({ rows, limits })}\n`)
  const style = { head: [], border: [] }
  const table = new Table({
    head: ['request', 'in flight', 'a second', 'of the limit', 'p50 ms', 'p99 ms', 'CPU ms', 'of them', 'MiB', 'SQL'], style
  })
  for (const { name, inFlight, figures, limit, statements } of rows) {
    const { perSecond, p50, p99, cpu, memory } = figures
    const share = limit ? `${(100 * perSecond / limit.perSecond).toFixed(0)} %` : ''
    const spent = [sum(cpu).toFixed(2), list(cpu, 2), whole(sum(memory))]
    const sql = statements ? `${sum(statements).toFixed(1)}: ${list(statements, 1)}` : ''
    table.push([name, inFlight, whole(perSecond), share, p50.toFixed(1), p99.toFixed(1), ...spent, sql])
  }
  const raw = new Table({ head: ['limit', 'a second', 'p50 ms', 'p99 ms'], style })
  for (const { name, perSecond, p50, p99 } of limits) {
    raw.push([name, whole(perSecond), p50.toFixed(2), p99.toFixed(2)])
  }
  process.stdout.write(`${table.toString()}\n${raw.toString()}\n`)
}

const sum = (values: Record<string, number>) => Object.values(values).reduce((all, each) => all + each, 0)

const list = (values: Record<string, number>, digits: number) => Object.entries(values)
  .filter(([, value]) => value.toFixed(digits) !== (0).toFixed(digits))
  .sort(([, a], [, b]) => b - a)
  .map(([name, value]) => `${name} ${value.toFixed(digits)}`).join(', ')
