// Delete and Tombstone: a stream that can come back, and one that cannot.
import { status, type sendUnaryData, type ServerUnaryCall } from '@grpc/grpc-js'
import { describedBy } from '../../log/event.js'
import type { EventLog } from '../../log/log.js'
import type { WriteRequest } from '../../log/write/request.js'
import {
  diskFull, invalid, Refusal, streamDeleted, timedOut, toServiceError, unavailable, wrongExpectedVersion
} from '../errors.js'
import { streams } from '../generated.js'
import { expectedRevision, writableStreamName } from '../requests.js'

type Options = streams.DeleteReq.Options | streams.TombstoneReq.Options
export type DeleteCall = ServerUnaryCall<streams.DeleteReq, streams.DeleteResp>
export type TombstoneCall = ServerUnaryCall<streams.TombstoneReq, streams.TombstoneResp>

export function handleDelete (log: EventLog, call: DeleteCall, reply: sendUnaryData<streams.DeleteResp>): void {
  remove(log, 'delete', call.request.getOptions(), Number(call.getDeadline())).then((at) => {
    const position = new streams.DeleteResp.Position().setCommitPosition(at).setPreparePosition(at)
    reply(null, new streams.DeleteResp().setPosition(position))
  }, (error: unknown) => { reply(toServiceError(error)) })
}

export function handleTombstone (
  log: EventLog, call: TombstoneCall, reply: sendUnaryData<streams.TombstoneResp>
): void {
  remove(log, 'tombstone', call.request.getOptions(), Number(call.getDeadline())).then((at) => {
    const position = new streams.TombstoneResp.Position().setCommitPosition(at).setPreparePosition(at)
    reply(null, new streams.TombstoneResp().setPosition(position))
  }, (error: unknown) => { reply(toServiceError(error)) })
}

/** The position of the event that deletes. */
async function remove (
  log: EventLog, action: WriteRequest['action'], options: Options | undefined, expiresAt: number
): Promise<string> {
  if (options === undefined) throw invalid('A delete carries its options')
  const stream = writableStreamName(options.getStreamIdentifier())
  if (action === 'tombstone' && describedBy(stream) !== undefined) throw metadataForEver()
  const exact = options.getRevision()
  const expected = expectedRevision(options, exact)
  await log.room()
  const outcome = await log.write({ action, stream, expected, events: [], expiresAt })
  switch (outcome.kind) {
    case 'written': return String(outcome.position)
    case 'wrong-revision':
      throw wrongExpectedVersion(stream, expected < 0 ? String(expected) : exact, outcome.current)
    case 'stream-deleted': throw streamDeleted(stream)
    case 'unavailable': throw unavailable()
    case 'disk-full': throw diskFull()
    case 'unknown': throw timedOut()
    case 'expired': throw new Refusal(status.DEADLINE_EXCEEDED, 'The deadline passed before the delete was begun')
  }
}

/** EventStoreDB takes it, and ends for ever when the stream that is described is deleted later. */
const metadataForEver = () => invalid('A stream of metadata, whose name begins with $$, cannot be tombstoned')
