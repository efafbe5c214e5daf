// Reads and subscriptions through a member: it may be behind, lack what it scavenged, and send checkpoints of its own.
import shared from '@eventstore/db-client/generated/shared_pb.js'
import streams from '@eventstore/db-client/generated/streams_pb.js'
import type * as grpc from '@grpc/grpc-js'
import type { Ways } from './ways.js'

type Call = grpc.ServerWritableStream<streams.ReadReq, streams.ReadResp>

const nowhere = String(2n ** 64n - 1n)

export function forwardRead (member: Ways, call: Call): void {
  const isSubscription = call.request.getOptions()?.hasSubscription() === true
  const kind = isSubscription ? 'subscribe' : 'read'
  const refused = member.refusalOf(kind, call.metadata)
  if (refused) return void call.emit('error', refused)
  const closed = member.opened(kind, call as never)
  call.on('close', closed)
  const forwarding = isSubscription ? follow(member, call) : readOnce(member, call)
  forwarding.catch((error: unknown) => { call.emit('error', error) })
}

/** What a read delivers that this member has; it counts itself, as it leaves events out. */
async function readOnce (member: Ways, call: Call): Promise<void> {
  const options = call.request.getOptions()
  const count = BigInt(options?.getCount() ?? 0)
  options?.setCount(String(Number.MAX_SAFE_INTEGER))
  const reading = member.target.read(call.request)
  call.on('cancelled', () => reading.cancel())
  let sent = 0n
  let isCut = false
  for await (const answer of reading as AsyncIterable<streams.ReadResp>) {
    const position = positionOf(answer)
    if (position !== undefined && !member.sees(position)) isCut = true
    else if (position === undefined || !member.goneAt.has(position)) {
      call.write(answer)
      sent += 1n
    }
    if (sent === count) break
  }
  const stream = options?.getStream()?.getStreamIdentifier()
  if (isCut && sent === 0n && stream && await isUnknown(member, stream)) {
    const notFound = new streams.ReadResp.StreamNotFound().setStreamIdentifier(stream)
    call.write(new streams.ReadResp().setStreamNotFound(notFound))
  }
  call.end()
}

async function isUnknown (member: Ways, stream: shared.StreamIdentifier): Promise<boolean> {
  const begin = new streams.ReadReq.Options.StreamOptions().setStreamIdentifier(stream).setStart(new shared.Empty())
  const request = new streams.ReadReq().setOptions(finite(1).setStream(begin))
  for await (const answer of member.target.read(request) as AsyncIterable<streams.ReadResp>) {
    const position = positionOf(answer)
    return position === undefined || !member.sees(position)
  }
  return true
}

/** Sends on what comes, and holds what this member does not have yet. */
async function follow (member: Ways, call: Call): Promise<void> {
  const skips = await skippedAfter(member, call.request)
  const asThen = lastCheckpoint(member, call.request)
  const reading = member.target.read(call.request)
  const held: streams.ReadResp[] = []
  const sendHeld = () => {
    for (let next = held[0]; next && member.sees(positionOf(next) ?? 0n); next = held[0]) {
      held.shift()
      call.write(next)
    }
  }
  const stopWaiting = member.onCatchUp(sendHeld)
  call.on('close', stopWaiting)
  call.on('cancelled', () => reading.cancel())
  call.on('error', () => reading.cancel())
  for await (const answer of reading as AsyncIterable<streams.ReadResp>) {
    const position = positionOf(answer)
    if (position !== undefined && (member.goneAt.has(position) || skips(position))) continue
    held.push(...asThen(answer))
    sendHeld()
  }
  call.end()
}

/** Before 24.10, a subscription after a position whose event is gone skips the next event as well. */
async function skippedAfter (member: Ways, request: streams.ReadReq): Promise<(position: bigint) => boolean> {
  const after = request.getOptions()?.getAll()?.getPosition()?.getCommitPosition()
  if (after === undefined || member.version === '24.10' || !member.goneAt.has(BigInt(after))) return () => false
  const place = new streams.ReadReq.Options.Position().setCommitPosition(after).setPreparePosition(after)
  const all = new streams.ReadReq.Options.AllOptions().setPosition(place)
  const next = new streams.ReadReq().setOptions(finite(1_000).setAll(all))
  let skipped: bigint | undefined
  for await (const answer of member.target.read(next) as AsyncIterable<streams.ReadResp>) {
    const position = positionOf(answer)
    if (position !== undefined && !member.goneAt.has(position)) skipped ??= position
  }
  return (position) => (skipped ??= position) === position
}

/** At the end of a catch-up 24.10.4 tells what it sent last, 2^64-1 if that is nothing; 23.10 sends no checkpoint. */
function lastCheckpoint (member: Ways, request: streams.ReadReq): (answer: streams.ReadResp) => streams.ReadResp[] {
  let last = request.getOptions()?.getAll()?.getPosition()?.getCommitPosition() ?? nowhere
  let isCaughtUp = false
  let kept: streams.ReadResp[] = []
  return (answer) => {
    if (isCaughtUp) return [answer]
    isCaughtUp = answer.hasCaughtUp()
    const before = kept
    kept = answer.hasCheckpoint() ? [answer] : []
    const checkpoint = before[0]?.getCheckpoint()
    if (isCaughtUp && checkpoint) {
      member.saidNothing += 1
      if (member.version === '23.10') return [answer]
      checkpoint.setCommitPosition(last).setPreparePosition(last)
    }
    last = String(positionOf(answer) ?? last)
    return [...before, ...kept.length > 0 ? [] : [answer]]
  }
}

function finite (count: number): streams.ReadReq.Options {
  return new streams.ReadReq.Options()
    .setReadDirection(streams.ReadReq.Options.ReadDirection.FORWARDS)
    .setCount(String(count))
    .setNoFilter(new shared.Empty())
    .setUuidOption(new streams.ReadReq.Options.UUIDOption().setString(new shared.Empty()))
}

/** Of an event, or of the checkpoint that a subscription tells. */
function positionOf (answer: streams.ReadResp): bigint | undefined {
  const position = answer.getEvent()?.getEvent()?.getCommitPosition() ?? answer.getCheckpoint()?.getCommitPosition()
  return position === undefined || position === nowhere ? undefined : BigInt(position)
}
