// Remembers what streams were folded to, so that a command reads only the tail of its stream.
import type { Folded } from './folded-stream.js'

export interface StreamCache {
  has (stream: string): boolean
  /** A stream has one decider for ever, so what is found has the state of that decider. */
  get<State> (stream: string): Folded<State> | undefined
  set (stream: string, folded: Folded<unknown>): void
  delete (stream: string): void
}

const cachedStreams = 10_000

/** The least recently used stream goes first. An old entry is harmless: each append names its exact revision. */
export function streamCache (mostStreams = cachedStreams): StreamCache {
  const entries = new Map<string, Folded<unknown>>()
  return {
    has: (stream) => entries.has(stream),
    get: <State>(stream: string) => entries.get(stream) as Folded<State> | undefined,
    set (stream, folded) {
      entries.delete(stream)
      entries.set(stream, folded)
      const [oldest] = entries.keys()
      if (entries.size > mostStreams && oldest !== undefined) entries.delete(oldest)
    },
    delete: (stream) => { entries.delete(stream) }
  }
}
