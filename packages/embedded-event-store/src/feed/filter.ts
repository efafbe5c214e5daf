// Server-side filters of $all: by stream or by type, by prefix or by regular expression.
import type { RecordedEvent } from '../log/event.js'

export interface Filter {
  matches (event: RecordedEvent): boolean
  /** A checkpoint is due after so many considered events, matching or not. */
  checkpointInterval: number
}

export class InvalidFilter extends Error {}

export interface FilterSpec {
  on: 'stream' | 'type'
  /** Searched anywhere in the name; wins over the prefixes when not empty. */
  regex: string
  prefixes: readonly string[]
  window: number
  multiplier: number
}

/** Throws `InvalidFilter` when the expression is not one. */
export function filterOf ({ on, regex, prefixes, window, multiplier }: FilterSpec): Filter {
  const test = regex === '' ? (name: string) => prefixes.some((prefix) => name.startsWith(prefix)) : searcher(regex)
  return {
    matches: on === 'stream' ? (event) => test(event.stream) : (event) => test(event.type),
    checkpointInterval: Math.max(1, window) * Math.max(1, multiplier)
  }
}

function searcher (regex: string): (name: string) => boolean {
  try {
    const expression = new RegExp(regex)
    return (name) => expression.test(name)
  } catch (error) {
    throw new InvalidFilter(`The filter is not a regular expression: ${regex}`, { cause: error })
  }
}

/** Streams that $all does not show: bookkeeping of the server itself. */
export function isHidden (stream: string): boolean {
  return stream === '$epoch-information' || /^\$persistentsubscription-\$all::.*-(checkpoint|parked)$/s.test(stream)
}
