// Server-side filters of $all: by stream or type, prefix or regular expression.
import { RE2JS } from 're2js'
import type { RecordedEvent } from './log/event.js'
import type { streams } from './protocol/generated.js'

/** An invalid filter; the message names the problem. */
export class InvalidFilter extends Error {}

export interface Filter {
  matches (event: RecordedEvent): boolean
  /** A checkpoint is due after this many events, matching or not. */
  checkpointInterval: number
}

/** More than clients need; each prefix is tried on each event. */
const mostPrefixes = 1_000
/** The real server's default window, in events. */
const defaultWindow = 32

/** @throws InvalidFilter when the expression is invalid, or has too many prefixes */
export function requestedFilter (read: streams.ReadReq.Options): Filter | undefined {
  const options = read.getFilter()
  const expression = options?.getStreamIdentifier() ?? options?.getEventType()
  if (options === undefined || expression === undefined) return undefined
  const [regex, prefixes] = [expression.getRegex(), expression.getPrefixList()] // a regex wins over prefixes
  if (prefixes.length > mostPrefixes) throw new InvalidFilter(`A filter has at most ${mostPrefixes} prefixes`)
  const test = regex === '' ? (name: string) => prefixes.some((prefix) => name.startsWith(prefix)) : searchFor(regex)
  const ofType = remembered(test)
  const window = options.hasMax() ? options.getMax() : defaultWindow
  return {
    matches: options.hasStreamIdentifier() ? (event) => test(event.stream) : (event) => ofType(event.type),
    checkpointInterval: Math.max(1, window) * Math.max(1, options.getCheckpointintervalmultiplier())
  }
}

/** In characters: compiled, an expression with braces may be a thousand times as large. */
const longest = (expression: string) => expression.includes('{') ? 256 : 4_096

/** In instructions: matching a name of 2,000 characters then takes less than a tenth of a second. */
const largest = 4_096

/** Searches names in linear time (RE2): a hostile expression must not block the one thread. */
function searchFor (expression: string): (name: string) => boolean {
  if (expression.length > longest(expression)) throw tooLarge()
  const compiled = compile(expression)
  if (compiled.programSize() > largest) throw tooLarge()
  return (name) => compiled.test(name)
}

const tooLarge = () => new InvalidFilter('The regular expression of a filter is too long or repeats too much: use prefixes')

function compile (expression: string): RE2JS {
  try {
    return RE2JS.compile(expression)
  } catch (cause) {
    throw new InvalidFilter(`The filter is no regular expression of RE2: ${expression}`, { cause })
  }
}

/** Caches results: there are few event types, and each recurs. */
function remembered (test: (name: string) => boolean): (name: string) => boolean {
  const known = new Map<string, boolean>()
  return (name) => {
    const before = known.get(name)
    if (before !== undefined) return before
    const answer = test(name)
    if (known.size < mostRemembered && name.length <= longestRemembered) known.set(name, answer)
    return answer
  }
}

const mostRemembered = 256
const longestRemembered = 256

/** System streams that $all hides. */
export function isHidden (event: RecordedEvent): boolean {
  const { row } = event
  if (row !== undefined && row.bytes[row.stream] !== dollar) return false // without decoding the name
  return event.stream === '$epoch-information' || persistent.test(event.stream)
}

const dollar = 0x24
const persistent = /^\$persistentsubscription-\$all::.*-(checkpoint|parked)$/s
