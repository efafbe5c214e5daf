// Prints what the bench of a service with nothing to do has measured.
import Table from 'cli-table3'
import type { Share } from '../support/processes.js'

export interface Idle {
  /** Of one core, by process. */
  percent: Record<string, number>
  memory: Record<string, Share>
  /** SQL statements a second, of all processes. */
  statements: number
}

/** The JSON, or a table for people. */
export function report (idle: Idle, asJson: boolean): void {
  if (asJson) return void process.stdout.write(`${JSON.stringify(idle)}\n`)
  const { percent, memory, statements } = idle
  const table = new Table({ head: ['process', '% of a core', 'PSS MiB', 'RSS MiB'], style: { head: [], border: [] } })
  const row = (name: string, cpu: number, { pss, rss }: Share) =>
    table.push([name, cpu.toFixed(2), pss.toFixed(0), rss.toFixed(0)])
  for (const [name, share] of Object.entries(memory)) row(name, percent[name] ?? NaN, share)
  const sum = (values: number[]) => values.reduce((all, each) => all + each, 0)
  const shares = Object.values(memory)
  const all = { pss: sum(shares.map(({ pss }) => pss)), rss: sum(shares.map(({ rss }) => rss)) }
  row('all', sum(Object.values(percent)), all)
  process.stdout.write(`${table.toString()}\n${statements.toFixed(1)} SQL statements a second\n`)
}
