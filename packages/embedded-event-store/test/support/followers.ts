// Followers that note what they saw, and go on from where they were, while the event store comes and goes.
import { setTimeout as delay } from 'node:timers/promises'
import * as grpc from '@grpc/grpc-js'
import type { AllStreamSubscription, ResolvedEvent, StreamSubscription } from '@eventstore/db-client'
import { StreamsClient } from '@eventstore/db-client/generated/streams_grpc_pb.js'
import shared from '@eventstore/db-client/generated/shared_pb.js'
import streams from '@eventstore/db-client/generated/streams_pb.js'

export type Recorded = NonNullable<ResolvedEvent['event']>

/** One line an event: its place in the log, its place in its stream, and which it is. */
export function lineOf ({ position, streamId, revision, id }: Recorded): string {
  return `${position?.commit} ${revision}@${streamId} ${id}`
}

const impatient = { 'grpc.initial_reconnect_backoff_ms': 50, 'grpc.max_reconnect_backoff_ms': 200 }

export interface Followed {
  lines: string[]
  /** How often it has begun. */
  tries: number
}

export interface Until {
  /** The type of the last event. */
  lastType: string
  /** Ends it at once. */
  stopped: AbortSignal
}

/** Follows and, whenever that breaks, goes on after the last event that it has seen. */
export async function follow (
  open: (last: Recorded | undefined) => AllStreamSubscription | StreamSubscription, { lastType, stopped }: Until
): Promise<Followed> {
  const lines: string[] = []
  let last: Recorded | undefined
  let tries = 0
  for (; !stopped.aborted; await delay(5)) {
    tries++
    const subscription = open(last)
    const stop = () => { void subscription.unsubscribe() } // the loop below ends with it
    stopped.addEventListener('abort', stop)
    subscription.on('error', () => {})
    try {
      for await (const { event } of subscription) {
        if (event === undefined) continue
        last = event
        lines.push(lineOf(event))
        if (event.type === lastType) return { lines, tries }
      }
    } catch { // broken: again from where it was
    } finally {
      stopped.removeEventListener('abort', stop)
      await subscription.unsubscribe()
    }
  }
  return { lines, tries }
}

/**
 * Follows $all through a filter as a projection that keeps its rows in one transaction with the server's checkpoint:
 * what came after the last checkpoint is forgotten when it breaks. It speaks to the server directly, for
 * the client may tell of a checkpoint before it has handed over the events that came first.
 */
export async function followByCheckpoints (
  port: number, prefix: string, { lastType, stopped }: Until
): Promise<Followed> {
  const stub = new StreamsClient(`127.0.0.1:${port}`, grpc.credentials.createInsecure(), impatient)
  stopped.addEventListener('abort', () => { stub.close() })
  const kept: string[] = []
  let position = '0'
  let tries = 0
  for (; !stopped.aborted; await delay(5)) {
    tries++
    const call = stub.read(filtered(prefix, position))
    const stop = () => { call.cancel() }
    stopped.addEventListener('abort', stop)
    let pending: string[] = []
    try {
      for await (const response of call as AsyncIterable<streams.ReadResp>) {
        const event = response.getEvent()?.getEvent()
        if (event !== undefined) pending.push(lineOfMessage(event))
        if (event?.getMetadataMap().get('type') === lastType) return { lines: [...kept, ...pending], tries }
        const checkpoint = response.getCheckpoint()
        if (checkpoint === undefined) continue
        kept.push(...pending)
        pending = []
        position = checkpoint.getCommitPosition()
      }
    } catch { // broken: again from the last checkpoint
    } finally {
      stopped.removeEventListener('abort', stop)
      call.cancel()
    }
  }
  return { lines: kept, tries }
}

function filtered (prefix: string, after: string): streams.ReadReq {
  const filter = new streams.ReadReq.Options.FilterOptions()
    .setStreamIdentifier(new streams.ReadReq.Options.FilterOptions.Expression().setPrefixList([prefix]))
    .setMax(8)
    .setCheckpointintervalmultiplier(1)
  const position = new streams.ReadReq.Options.Position().setCommitPosition(after).setPreparePosition(after)
  return new streams.ReadReq().setOptions(new streams.ReadReq.Options()
    .setAll(new streams.ReadReq.Options.AllOptions().setPosition(position))
    .setSubscription(new streams.ReadReq.Options.SubscriptionOptions())
    .setFilter(filter)
    .setUuidOption(new streams.ReadReq.Options.UUIDOption().setString(new shared.Empty())))
}

function lineOfMessage (event: streams.ReadResp.ReadEvent.RecordedEvent): string {
  const stream = Buffer.from(event.getStreamIdentifier()?.getStreamName_asU8() ?? []).toString()
  return `${event.getCommitPosition()} ${event.getStreamRevision()}@${stream} ${event.getId()?.getString()}`
}
