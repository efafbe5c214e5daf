// The filter of a read of $all, from its options.
import { type Filter, filterOf } from '../../feed/filter.js'
import type { streams } from '../generated.js'

/** How many events the real server considers at a time when it is not told. */
const defaultWindow = 32

/** @throws InvalidFilter when its regular expression is not valid */
export function requestedFilter (read: streams.ReadReq.Options): Filter | undefined {
  const options = read.getFilter()
  const expression = options?.getStreamIdentifier() ?? options?.getEventType()
  if (options === undefined || expression === undefined) return undefined
  return filterOf({
    on: options.hasStreamIdentifier() ? 'stream' : 'type',
    regex: expression.getRegex(),
    prefixes: expression.getPrefixList(),
    window: options.hasMax() ? options.getMax() : defaultWindow,
    multiplier: options.getCheckpointintervalmultiplier()
  })
}
