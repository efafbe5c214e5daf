// Why the target did not take an append, in words that say how to go on.
import shared from '@eventstore/db-client/generated/shared_pb.js'
import type streams from '@eventstore/db-client/generated/streams_pb.js'
import { describedBy } from '../recorded.js'
import { OtherRevision, TransferRefused } from '../refused.js'

export interface Sent {
  stream: string
  /** The revision that it follows. */
  expected: bigint
}

/** A failure that the next run gets over. */
export function broken (what: string, options?: ErrorOptions): Error {
  return new Error(`${what}; the same command goes on where the target stands`, options)
}

/** @param sent the append that was answered, where it is known */
export function failureOf (reply: streams.BatchAppendResp, sent: Sent | undefined): Error {
  const { stream = 'unknown', expected = 0n } = sent ?? {}
  const details = reply.getError()?.getDetails()
  const kind = details?.getTypeName().split('.').at(-1)
  switch (kind) {
    case 'WrongExpectedVersion': {
      const wrong = shared.WrongExpectedVersion.deserializeBinary(details?.getValue_asU8() ?? new Uint8Array())
      const current = wrong.hasCurrentStreamRevision() ? BigInt(wrong.getCurrentStreamRevision()) : -1n
      return otherRevision(stream, current, expected)
    }
    case 'StreamDeleted': return new OtherRevision(
      `stream ${stream} is deleted for ever in the target, and has further events here: choose an empty target`)
    case 'MaximumAppendSizeExceeded': return new TransferRefused(
      `an event of stream ${stream} is larger than the target takes: raise its MaxAppendSize`)
    case 'AccessDenied': return new TransferRefused(
      `the target does not let these credentials write to stream ${stream}`)
    default: return broken(`the target did not write to stream ${stream}: ${reply.getError()?.getMessage() || kind}`)
  }
}

function otherRevision (stream: string, current: bigint, expected: bigint): OtherRevision {
  if (current >= expected) {
    const found = `stream ${stream} of the target holds other events after revision ${expected}`
    return new OtherRevision(`${found}: choose a target without them`)
  }
  const what = describedBy(stream) === undefined ? 'its earlier events' : 'earlier metadata'
  return new OtherRevision(`stream ${stream} has no revision ${expected}: ${what} were scavenged away, ` +
    'and no store lets one begin in the middle. Use the backup and restore of EventStoreDB itself')
}
