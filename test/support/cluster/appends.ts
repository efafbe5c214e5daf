// Appends through a member: forwarded to the log that all members share, or refused as a member refuses.
import { createRequire } from 'node:module'
import shared from '@eventstore/db-client/generated/shared_pb.js'
import status from '@eventstore/db-client/generated/status_pb.js'
import streams from '@eventstore/db-client/generated/streams_pb.js'
import type * as grpc from '@grpc/grpc-js'
import type { Ways } from './ways.js'

// A second copy of google-protobuf would not know these messages, so it is the client's own.
const require = createRequire(createRequire(import.meta.url).resolve('@eventstore/db-client/package.json'))
const { Any }: typeof import('google-protobuf/google/protobuf/any_pb.js') = require('google-protobuf/google/protobuf/any_pb.js')

type Call = grpc.ServerDuplexStream<streams.BatchAppendReq, streams.BatchAppendResp>

/** A real server drops an append whose ids are in flight, and answers after this time. */
const writeTimeoutMs = 2_000

/** Of all members: the ids that were sent on and are not answered, and when the log has them. */
const inFlight = new Map<string, Promise<void>>()

export function forwardBatch (member: Ways, call: Call): void {
  const refused = member.refusalOf('append', call.metadata)
  if (refused?.code === 16) return void call.emit('error', refused)
  const closed = member.opened('append', call as never)
  const onward = member.target.batchAppend()
  const underWay = new Map<string, UnderWay>()
  const take = (request: streams.BatchAppendReq) => {
    const refusal = member.refusalOf('append', call.metadata)
    if (refusal?.code === 5) return void call.emit('error', refusal)
    if (refusal) return void call.write(refusedBy(request, 'Empty', refusal.details))
    if (member.denied.append) return void call.write(refusedBy(request, 'AccessDenied', 'Access Denied'))
    const ids = request.getProposedMessagesList().map((message) => message.getId()?.getString() ?? '')
    const like = ids.flatMap((id) => inFlight.get(id) ?? [])[0]
    if (like) {
      member.metOwnLike += 1
      // One writer takes all appends in order: what follows on this call stands in the log after the like of this one.
      call.pause()
      void like.then(() => { call.resume() })
      return void timeOut(call, request)
    }
    member.unanswered += 1
    underWay.set(request.getCorrelationId()?.getString() ?? '', sentOn(ids))
    onward.write(request)
  }
  takeRequests(member, call, take)
  onward.on('data', (reply: streams.BatchAppendResp) => {
    const append = underWay.get(reply.getCorrelationId()?.getString() ?? '')
    append?.isWritten()
    setTimeout(() => {
      append?.forget()
      member.unanswered -= 1
      if (!call.destroyed) call.write(member.timesOut ? failed(reply, 'Timeout', 'Timeout') : reply)
    }, member.answersAfterMs)
  })
  onward.on('error', () => { for (const append of underWay.values()) append.forget() })
  // What a client sent before it left is written, as by a real server.
  call.on('cancelled', () => {
    closed()
    onward.end()
  })
  call.on('error', () => {
    closed()
    onward.end()
  })
  call.on('end', () => {
    closed()
    onward.end()
    call.end()
  })
}

/** From the moment on at which the member takes appends. */
function takeRequests (member: Ways, call: Call, take: (request: streams.BatchAppendReq) => void): void {
  call.once('data', (first: streams.BatchAppendReq) => {
    call.pause()
    void member.wantsToAppend().then(() => {
      take(first)
      call.on('data', take)
      call.resume()
    })
  })
}

interface UnderWay {
  isWritten (): void
  forget (): void
}

function sentOn (ids: readonly string[]): UnderWay {
  let isWritten = () => {}
  const written = new Promise<void>((resolve) => { isWritten = resolve })
  for (const id of ids) inFlight.set(id, written)
  return {
    isWritten,
    forget () {
      isWritten()
      for (const id of ids) inFlight.delete(id)
    }
  }
}

function timeOut (call: Call, request: streams.BatchAppendReq): void {
  setTimeout(() => { if (!call.destroyed) call.write(refusedBy(request, 'Timeout', 'Timeout')) }, writeTimeoutMs).unref()
}

function refusedBy (request: streams.BatchAppendReq, type: string, message: string): streams.BatchAppendResp {
  const reply = new streams.BatchAppendResp()
  return failed(reply.setCorrelationId(request.getCorrelationId())
    .setStreamIdentifier(request.getOptions()?.getStreamIdentifier()), type, message)
}

function failed (reply: streams.BatchAppendResp, type: string, message: string): streams.BatchAppendResp {
  const details = new Any()
  const packed = type === 'Empty' ? 'google.protobuf.Empty' : `event_store.client.${type}`
  details.pack(new shared.Empty().serializeBinary(), packed)
  reply.clearSuccess()
  return reply.setError(new status.Status().setMessage(message).setDetails(details))
}
