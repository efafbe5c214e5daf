// Prints what the bench of growth has measured.
import { whole } from '../support/statistics.js'
import { requestNames, type Grown } from './measure.js'

/** Tables for people, of Markdown, as docs/performance.md has them. */
export function tables (grown: readonly Grown[]): string {
  const sizes = markdown(
    ['events', 'filled, events/s', ...requestNames.flatMap((name) => [`${name}/s`, 'p99 ms']), 'log MiB', 'read models MiB'],
    grown.map(({ events, filled, requests, disk }) => [
      whole(events), whole(filled.eventsPerSecond),
      ...requestNames.flatMap((name) => {
        const { perSecond = NaN, p99 = NaN } = requests[name] ?? {}
        return [whole(perSecond), p99.toFixed(1)]
      }),
      whole(disk.eventstore ?? NaN), whole(readModels(disk))
    ]))
  const last = grown.at(-1)
  const streams = markdown(
    ['updates of one assistant', 'PUT by a process that does not know it, ms', 'the next PUTs, p50 ms', 'GET, p50 ms'],
    (last?.streams ?? []).map(({ updates, cold, warm, read }) =>
      [whole(updates), cold.toFixed(1), warm.toFixed(1), read.toFixed(1)]))
  return `${sizes}\n${streams}`
}

const readModels = (disk: Record<string, number>) => Object.entries(disk)
  .reduce((sum, [schema, size]) => sum + (schema.startsWith('read_') ? size : 0), 0)

function markdown (head: string[], rows: string[][]): string {
  const [titles, ...lines] = [head, ...rows].map((cells) => `| ${cells.join(' | ')} |`)
  return [titles, `|${' ---: |'.repeat(head.length)}`, ...lines, ''].join('\n')
}
