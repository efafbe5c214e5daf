// Prints what the bench of calls has measured.
import Table from 'cli-table3'
import { whole } from '../support/statistics.js'
import type { Figures } from './load.js'
import type { Statements } from '../support/statements.js'

export interface Measured {
  queue: string
  /** By pace. */
  figures: Record<string, Figures>
  /** Statements a call, by pace and consumer. */
  statements: Record<string, Statements>
}

/** The JSON, or tables for people. */
export function report (measured: Measured[], asJson: boolean): void {
  if (asJson) return void process.stdout.write(`${JSON.stringify(measured)}\n`)
  const style = { head: [], border: [] }
  for (const { queue, figures, statements } of measured) {
    const paces = new Table({
      head: [`queue on ${queue}`, 'calls/s', 'p50 ms', 'p99 ms', 'CPU ms a call', 'of them', 'MiB'], style
    })
    for (const [pace, { perSecond, p50, p99, cpu, memory }] of Object.entries(figures)) {
      const all = [sum(cpu).toFixed(1), list(cpu, 1), whole(sum(memory))]
      paces.push([pace, whole(perSecond), p50.toFixed(1), p99.toFixed(1), ...all])
    }
    const counts = new Table({ head: ['statements a call', 'all', 'of them'], style })
    for (const [pace, each] of Object.entries(statements)) counts.push([pace, sum(each).toFixed(1), list(each, 1)])
    process.stdout.write(`${paces.toString()}\n${counts.toString()}\n\n`)
  }
}

const sum = (values: Record<string, number>) => Object.values(values).reduce((all, each) => all + each, 0)

const list = (values: Record<string, number>, digits: number) =>
  Object.entries(values).sort(([, a], [, b]) => b - a).map(([name, value]) => `${name} ${value.toFixed(digits)}`).join(', ')
