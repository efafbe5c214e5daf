// A stream whose earlier events were scavenged away: no store lets one begin in the middle.
import { describedBy, isTombstone, type Recorded } from './recorded.js'
import { TransferRefused } from './refused.js'

/** @param expected the revision that is not there */
export function lacksEarlier (stream: string, expected: bigint): TransferRefused {
  const what = describedBy(stream) === undefined ? 'its earlier events' : 'earlier metadata'
  return new TransferRefused(`stream ${stream} has no revision ${expected}: ${what} were scavenged away, ` +
    'and no store lets one begin in the middle. Use the backup and restore of EventStoreDB itself')
}

/** Whether the source lacks the event before this one. Reads it from its beginning, so it is asked once, at the end. */
export async function isBehindGap (
  source: { read (after: bigint): AsyncIterable<Recorded> }, event: Recorded
): Promise<boolean> {
  if (event.revision === 0n || isTombstone(event)) return false
  for await (const { stream, revision, position } of source.read(0n)) {
    if (position >= event.position) return true
    if (stream === event.stream && revision === event.revision - 1n) return false
  }
  return true
}
