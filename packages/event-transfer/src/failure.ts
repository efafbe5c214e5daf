// Failures that an operator must handle: the transfer ended, and nothing was overwritten.
import shared from '@eventstore/db-client/generated/shared_pb.js'
import type streams from '@eventstore/db-client/generated/streams_pb.js'

/** The transfer cannot continue; the message says why and how to fix it. */
export class TransferRefused extends Error {
  override readonly name = 'TransferRefused'
}

/** The target refused an append. Perhaps another copy was first: a comparison shows it. */
export class NotTaken extends TransferRefused {}

export interface Sent {
  stream: string
  /** The last revision before it. */
  expected: bigint
}

/** The target's stream does not end at the revision that an append expects. */
export class AtOtherRevision extends NotTaken {
  /** @param current its last revision, -1 when it has none */
  constructor (readonly current: bigint, message: string) {
    super(message)
  }
}

/** The stream lacks events in both source and target. If metadata hides them, placeholders can replace them. */
export class LacksEarlier extends TransferRefused {
  constructor (readonly current: bigint, stream: string, expected: bigint) {
    super(`stream ${stream} has no revision ${expected}, and no metadata that hide it: it is not whole, and no store ` +
      'lets one begin in the middle. Use the backup and restore of EventStoreDB itself')
  }
}

/** A failure that a repeated run recovers from. */
export function broken (what: string, options?: ErrorOptions): Error {
  return new Error(`${what}; the same command goes on where the target stands`, options)
}

/**
 * @param sent the answered append, if known
 * @param isNext whether no earlier append to its stream is still unanswered
 */
export function failureOf (reply: streams.BatchAppendResp, sent: Sent | undefined, isNext: boolean): Error {
  const { stream = 'unknown', expected = 0n } = sent ?? {}
  const details = reply.getError()?.getDetails()
  const kind = details?.getTypeName().split('.').at(-1)
  switch (kind) {
    case 'WrongExpectedVersion': {
      const wrong = shared.WrongExpectedVersion.deserializeBinary(details?.getValue_asU8() ?? new Uint8Array())
      const current = wrong.hasCurrentStreamRevision() ? BigInt(wrong.getCurrentStreamRevision()) : -1n
      return otherRevision(stream, current, expected, isNext)
    }
    case 'StreamDeleted': return new NotTaken(
      `stream ${stream} is deleted for ever in the target, and has further events here: choose an empty target`)
    // A real server says this when another copy has the same events in flight.
    case 'Timeout': return new NotTaken(
      `the target did not say in time whether it wrote to stream ${stream}; the same command goes on where it stands`)
    case 'MaximumAppendSizeExceeded': return new TransferRefused(
      `an event of stream ${stream} is larger than the target takes: raise its MaxAppendSize`)
    case 'AccessDenied': return new TransferRefused(
      `the target does not let these credentials write to stream ${stream}`)
    default: return broken(`the target did not write to stream ${stream}: ${reply.getError()?.getMessage() || kind}`)
  }
}

function otherRevision (stream: string, current: bigint, expected: bigint, isNext: boolean): Error {
  if (current >= expected) {
    const found = `stream ${stream} of the target holds other events after revision ${expected}`
    return new AtOtherRevision(current, `${found}: choose a target without them`)
  }
  if (isNext) return new LacksEarlier(current, stream, expected)
  return new AtOtherRevision(current, `stream ${stream} of the target lacks revision ${expected}, which was sent before`)
}
