// Shows bytes as the progress of a command.
import type { Operation } from '../shutdown.js'

/** What takes bytes done and in all, where an estimate may turn out too small. */
export function shownIn (doing: string, onProgress: Operation['onProgress']): (done: number, total: number) => void {
  return (done, total) => onProgress({
    doing, events: Math.round(done / 1e6), things: 'MB', ...total > 0 && { done: Math.min(done / total, 1) }
  })
}
