// Remembers what streams were folded to, so that a command reads only the tail of its stream.
import { LRUCache } from 'lru-cache'
import { sizeOf } from '../log/stored.js'
import type { Folded } from './folded-stream.js'

/** About what an entry takes besides its state: two strings, two numbers, a place in a map. */
const entryBytes = 400

export type StreamCache = LRUCache<string, Folded<unknown>>

/**
 * Bounded by bytes, because users decide how large a state is. An old entry is harmless: each append names its exact
 * revision. The key names the stream and what folds it, so an entry has the state of that aggregate.
 */
export function streamCache (mostBytes: number): StreamCache {
  const sizeCalculation = ({ state }: Folded<unknown>) => entryBytes + sizeOf(state)
  // lru-cache takes 0 for no bound; nothing fits into 1 byte.
  return new LRUCache({ maxSize: Math.max(1, mostBytes), sizeCalculation })
}

/** Where what a stream adds up to is remembered: once for each aggregate that folds it. */
export const keyOf = ({ stream, aggregate: { part } }: { stream: string, aggregate: { part?: string } }): string =>
  part === undefined ? stream : `${stream} ${part}`
