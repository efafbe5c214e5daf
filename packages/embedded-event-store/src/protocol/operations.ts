// Operations: of what EventStoreDB offers to its operators, the scavenge.
import type { sendUnaryData, ServerUnaryCall } from '@grpc/grpc-js'
import type { EventLog } from '../log/log.js'
import { toServiceError, unavailable } from './errors.js'
import { operations } from './generated.js'

export type ScavengeCall = ServerUnaryCall<operations.StartScavengeReq, operations.ScavengeResp>

/** Answers when it has begun, or names the one that is under way. `$scavenges-<id>` in the log tells how it ended. */
export function handleStartScavenge (
  log: EventLog, nodeEndpoint: string, reply: sendUnaryData<operations.ScavengeResp>
): void {
  if (!log.isReady) return reply(toServiceError(unavailable()))
  const { STARTED, INPROGRESS } = operations.ScavengeResp.ScavengeResult
  const scavengeResult = log.scavenger.running === undefined ? STARTED : INPROGRESS
  const { id } = log.scavenger.start(nodeEndpoint)
  reply(null, new operations.ScavengeResp().setScavengeId(id).setScavengeResult(scavengeResult))
}
