// BatchAppend messages, decoded by hand because appends arrive by the thousand. The client derives its error from the
// details of a reply, and needs the stream in each.
import { status } from '@grpc/grpc-js'
import { any, noStream, streamExists, type ExpectedRevision, type Outcome } from '../log/plan.js'
import { diskFull, maxAppendSize, type Refusal, unavailable } from './errors.js'
import { Any, Empty, shared, status as rpc } from './generated.js'
import { Reader, sizeOf, Writer } from './protobuf.js'
import { type ProposedMessage, uuidFromHalves } from './requests.js'

export interface BatchOptions {
  /** The raw StreamIdentifier, for the replies. */
  identifier: Buffer
  name: Buffer
  expected: ExpectedRevision
  /** The raw expected revision, if it is an exact one. */
  exact: bigint
  /** Unix ms. */
  deadline: number
}

export interface BatchChunk {
  /** The raw correlation id, for the reply. */
  id: Buffer
  options: BatchOptions | undefined
  messages: ProposedMessage[]
  isFinal: boolean
}

/** Decodes `BatchAppendReq`. @throws on malformed bytes */
export function decodeBatchChunk (bytes: Buffer): BatchChunk {
  const chunk: BatchChunk = { id: empty, options: undefined, messages: [], isFinal: false }
  const reader = new Reader(bytes)
  reader.each({
    1: () => { chunk.id = reader.bytes() },
    2: () => { chunk.options = decodeOptions(reader.message()) },
    3: () => { chunk.messages.push(decodeProposed(reader.message())) },
    4: () => { chunk.isFinal = reader.number() !== 0 }
  })
  return chunk
}

const empty: Buffer = Buffer.alloc(0)

function decodeOptions (reader: Reader): BatchOptions {
  const options: BatchOptions = { identifier: empty, name: empty, expected: 0, exact: 0n, deadline: Infinity }
  const expect = (expected: ExpectedRevision) => () => {
    reader.skip()
    options.expected = expected
  }
  reader.each({
    1: () => {
      options.identifier = reader.bytes()
      const name = new Reader(options.identifier)
      name.each({ 3: () => { options.name = name.bytes() } })
    },
    2: () => {
      options.exact = reader.uint64()
      options.expected = Math.min(Number(options.exact), Number.MAX_SAFE_INTEGER)
    },
    3: expect(noStream),
    4: expect(any),
    5: expect(streamExists),
    6: () => { options.deadline = decodeMs(reader.message()) },
    7: () => { options.deadline = Date.now() + decodeMs(reader.message()) }
  })
  return options
}

/** Milliseconds of a Timestamp or a Duration, which have the same fields. */
function decodeMs (reader: Reader): number {
  let ms = 0
  reader.each({
    1: () => { ms += Number(BigInt.asIntN(64, reader.uint64())) * 1000 },
    2: () => { ms += Math.floor(reader.number() / 1e6) }
  })
  return ms
}

function decodeProposed (reader: Reader): ProposedMessage {
  const message: ProposedMessage = { id: '', type: undefined, contentType: undefined, data: empty, metadata: empty }
  reader.each({
    1: () => { message.id = decodeUuid(reader.message()) },
    2: () => { decodeProperty(reader.message(), message) },
    3: () => { message.metadata = reader.bytes() },
    4: () => { message.data = reader.bytes() }
  })
  return message
}

function decodeProperty (reader: Reader, message: ProposedMessage): void {
  let [key, value] = ['', '']
  reader.each({ 1: () => { key = reader.text() }, 2: () => { value = reader.text() } })
  if (key === 'type') message.type = value
  if (key === 'content-type') message.contentType = value
}

function decodeUuid (reader: Reader): string {
  let id = ''
  reader.each({ 1: () => { id = decodeHalves(reader.message()) }, 2: () => { id = reader.text() } })
  return id
}

function decodeHalves (reader: Reader): string {
  let [most, least] = [0n, 0n]
  reader.each({ 1: () => { most = reader.uint64() }, 2: () => { least = reader.uint64() } })
  return uuidFromHalves(most, least)
}

// Field numbers as in streams.proto and shared.proto.
const response = {
  id: 1,
  error: 2,
  success: 3,
  stream: 4,
  expected: 5,
  expectedNoStream: 6,
  expectedAny: 7,
  expectedStreamExists: 8
}
const written = { revision: 1, noStream: 2, position: 3, noPosition: 4 }
const place = { commit: 1, prepare: 2 }

interface Failure {
  code: status
  /** Message type of `details`. */
  type: string
  details: { serializeBinary (): Uint8Array }
  /** Default: the type. */
  message?: string
}

/** The reply to one finished append; `id` is its raw correlation id. */
export function batchReply (id: Buffer, options: BatchOptions, outcome: Outcome): Buffer {
  if (outcome.kind !== 'written') return failure(id, options, failureOf(outcome, options))
  return envelope(id, options, response.success, success(outcome.revision, outcome.position))
}

/** The reply to an append that was refused before its last chunk. */
export function batchRefusal (id: Buffer, options: BatchOptions, refusal: Refusal): Buffer {
  return failure(id, options, failureOfRefusal(refusal))
}

function failureOf (outcome: Exclude<Outcome, { kind: 'written' }>, options: BatchOptions): Failure {
  switch (outcome.kind) {
    case 'wrong-revision': return {
      code: status.ALREADY_EXISTS, type: 'WrongExpectedVersion', details: wrongVersion(outcome.current, options)
    }
    case 'stream-deleted': {
      const identifier = new shared.StreamIdentifier().setStreamName(options.name)
      const details = new shared.StreamDeleted().setStreamIdentifier(identifier)
      return { code: status.NOT_FOUND, type: 'StreamDeleted', details }
    }
    case 'expired':
    case 'unknown': return { code: status.DEADLINE_EXCEEDED, type: 'Timeout', details: new shared.Timeout() }
    case 'unavailable':
    case 'disk-full': {
      const { code, message } = outcome.kind === 'disk-full' ? diskFull() : unavailable()
      return { code, ...badRequest(message) }
    }
  }
}

function failureOfRefusal ({ message, trailers: { exception } }: Refusal): Failure {
  const code = status.INVALID_ARGUMENT
  if (exception !== 'maximum-append-size-exceeded') return { code, ...badRequest(message) }
  const details = new shared.MaximumAppendSizeExceeded().setMaxappendsize(maxAppendSize)
  return { code, type: 'MaximumAppendSizeExceeded', details }
}

const badRequest = (message: string) =>
  ({ type: 'BadRequest', details: new shared.BadRequest().setMessage(message), message })

function failure (id: Buffer, options: BatchOptions, { code, type, details, message = type }: Failure): Buffer {
  const packed = new Any()
  packed.pack(details.serializeBinary(), `event_store.client.${type}`)
  const error = new rpc.Status().setCode(Number(code)).setMessage(message).setDetails(packed)
  return envelope(id, options, response.error, error.serializeBinary())
}

function envelope (id: Buffer, { identifier, expected }: BatchOptions, result: number, content: Uint8Array): Buffer {
  const expectedSize = expected >= 0 ? sizeOf.number(expected) : 2
  const size = sizeOf.bytes(id.length) + sizeOf.bytes(content.length) + sizeOf.bytes(identifier.length) + expectedSize
  const writer = Writer.ofSize(size).bytes(response.id, id).bytes(result, content).bytes(response.stream, identifier)
  switch (expected) {
    case any: return writer.begin(response.expectedAny, 0).buffer
    case noStream: return writer.begin(response.expectedNoStream, 0).buffer
    case streamExists: return writer.begin(response.expectedStreamExists, 0).buffer
    default: return writer.number(response.expected, expected).buffer
  }
}

function success (revision: number, at: number | undefined): Buffer {
  const positionSize = at === undefined ? 0 : 2 * sizeOf.number(at)
  const writer = Writer.ofSize((revision < 0 ? 2 : sizeOf.number(revision)) + sizeOf.bytes(positionSize))
  if (revision < 0) writer.begin(written.noStream, 0)
  else writer.number(written.revision, revision)
  if (at === undefined) return writer.begin(written.noPosition, 0).buffer
  return writer.begin(written.position, positionSize).number(place.commit, at).number(place.prepare, at).buffer
}

function wrongVersion (current: number, { expected, exact }: BatchOptions): shared.WrongExpectedVersion {
  const wrong = new shared.WrongExpectedVersion()
  if (current < 0) wrong.setCurrentNoStream(new Empty())
  else wrong.setCurrentStreamRevision(String(current))
  switch (expected) {
    case any: return wrong.setExpectedAny(new Empty())
    case streamExists: return wrong.setExpectedStreamExists(new Empty())
    case noStream: return wrong.setExpectedNoStream(new Empty())
    default: return wrong.setExpectedStreamPosition(String(exact))
  }
}
