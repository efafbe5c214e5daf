// Prints the results, with what is to be reached.
import Table from 'cli-table3'
import type { Measurement, Missing } from './entry.js'

export function table (measurements: readonly Measurement[], missing: readonly Missing[]): string {
  const head = ['', 'unit', 'ours', 'limit', 'of the limit', 'p50 ms', 'p99 ms', 'CPU ms', 'peak MiB', 'aim']
  const table = new Table({ head, style: { head: [], border: [] } })
  for (const { entry, aims } of measurements) {
    const { name, unit, ours, limit, limit_name: limitName, ratio } = entry
    const beside = limit === null ? '' : `${number(limit)} ${limitName}`
    const figures = [entry.p50_ms, entry.p99_ms, entry.cpu_ms, entry.peak_rss_mb].map(number)
    const reached = aims.map(({ text, isMet }) => `${text}: ${isMet ? 'met' : 'MISSED'}`).join('\n')
    table.push([name, unit, number(ours), beside, ratio === null ? '' : `${(ratio * 100).toFixed(0)} %`, ...figures, reached])
  }
  const aims = measurements.flatMap((each) => each.aims)
  const missed = aims.filter(({ isMet }) => !isMet).length
  const absent = missing.map(({ name, reason }) => `Not measured: ${name}: ${reason}\n`).join('')
  return `${table.toString()}\n${aims.length} aims, ${missed} of them missed.\n${absent}`
}

function number (value: number | null): string {
  if (value === null) return ''
  return value.toLocaleString('en', { maximumFractionDigits: value < 10 ? 2 : value < 100 ? 1 : 0 })
}
