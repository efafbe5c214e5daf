// What the role worker measures of the work in the background.
import type { Metrics } from '../../http/metrics.js'

interface Unfinished { kind: string, count: number, failing: number, oldestSeconds: number }

const importOutcomes = ['created', 'duplicate', 'invalid']

/** Of each kind, 0 where nothing waits. */
export function measureBackground (
  metrics: Metrics, kinds: readonly string[], count: () => Promise<Unfinished[]>
): void {
  const ofKind = (name: string, help: string, pick: (found: Unfinished) => number) =>
    metrics.gauge(name, help, ['kind'], async () => {
      const found = await count()
      return kinds.map((kind) => {
        const unfinished = found.find((each) => each.kind === kind)
        return { labels: { kind }, value: unfinished ? pick(unfinished) : 0 }
      })
    })
  ofKind('background_requests_pending', 'Requests in the background that have not ended.', ({ count }) => count)
  ofKind('background_requests_failing', 'Of them, those whose last turns kept nothing.', ({ failing }) => failing)
  ofKind('background_oldest_seconds', 'Age of the oldest of them; 0 when there is none.', ({ oldestSeconds }) => oldestSeconds)
}

/** Rows of imports that this process has done. @returns what is told of a part that was kept */
export function observeImports (metrics: Metrics): (outcomes: readonly string[]) => void {
  const counted = Object.fromEntries(importOutcomes.map((outcome) => [outcome, 0]))
  metrics.counter('import_rows_total', 'Rows of imports that this process has done, by outcome.', ['outcome'],
    () => Object.entries(counted).map(([outcome, value]) => ({ labels: { outcome }, value })))
  return (outcomes) => {
    for (const outcome of outcomes) counted[outcome] = (counted[outcome] ?? 0) + 1
  }
}
