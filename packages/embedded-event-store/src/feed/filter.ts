// Server-side filters of $all: by stream or by type, by prefix or by regular expression.
import type { RecordedEvent } from '../log/event.js'
import { InvalidFilter, searchFor } from './expression.js'

export interface Filter {
  matches (event: RecordedEvent): boolean
  /** A checkpoint is due after so many considered events, matching or not. */
  checkpointInterval: number
}

export interface FilterSpec {
  on: 'stream' | 'type'
  /** Searched anywhere in the name; wins over the prefixes when not empty. */
  regex: string
  prefixes: readonly string[]
  window: number
  multiplier: number
}

/** As many as a client needs; each is tried on each event. */
const mostPrefixes = 1_000

/** @throws InvalidFilter when the expression is not valid, or there are too many prefixes */
export function filterOf ({ on, regex, prefixes, window, multiplier }: FilterSpec): Filter {
  if (prefixes.length > mostPrefixes) throw new InvalidFilter(`A filter has at most ${mostPrefixes} prefixes`)
  const test = regex === '' ? (name: string) => prefixes.some((prefix) => name.startsWith(prefix)) : searchFor(regex)
  return {
    matches: on === 'stream' ? (event) => test(event.stream) : (event) => test(event.type),
    checkpointInterval: Math.max(1, window) * Math.max(1, multiplier)
  }
}

/** Streams that $all does not show: bookkeeping of the server itself. */
export function isHidden (stream: string): boolean {
  return stream === '$epoch-information' || /^\$persistentsubscription-\$all::.*-(checkpoint|parked)$/s.test(stream)
}
