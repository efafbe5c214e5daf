// One message of BatchAppend, decoded by hand: appends arrive by the thousand.
import { any, type ExpectedRevision, noStream, streamExists } from '../../log/write/decide.js'
import { Reader } from '../protobuf-reader.js'
import { type ProposedMessage, uuidFromHalves } from '../requests.js'

export interface BatchOptions {
  /** The StreamIdentifier as it came, for the replies. */
  identifier: Buffer
  name: Buffer
  expected: ExpectedRevision
  /** The expected revision as it came, when it is an exact one. */
  exact: bigint
  /** Unix ms. */
  deadline: number
}

export interface BatchChunk {
  /** The correlation id as it came, for the reply. */
  id: Buffer
  options: BatchOptions | undefined
  messages: ProposedMessage[]
  isFinal: boolean
}

/** Decodes `BatchAppendReq`; throws when the bytes are no such message. */
export function decodeBatchChunk (bytes: Buffer): BatchChunk {
  const chunk: BatchChunk = { id: empty, options: undefined, messages: [], isFinal: false }
  const reader = new Reader(bytes)
  while (reader.next()) {
    switch (reader.field) {
      case 1: chunk.id = reader.bytes(); break
      case 2: chunk.options = decodeOptions(reader.message()); break
      case 3: chunk.messages.push(decodeProposed(reader.message())); break
      case 4: chunk.isFinal = reader.number() !== 0; break
      default: reader.skip()
    }
  }
  return chunk
}

const empty: Buffer = Buffer.alloc(0)

function decodeOptions (reader: Reader): BatchOptions {
  const options: BatchOptions = { identifier: empty, name: empty, expected: 0, exact: 0n, deadline: Infinity }
  while (reader.next()) {
    switch (reader.field) {
      case 1: setStream(options, reader.bytes()); break
      case 2: setExact(options, reader.uint64()); break
      case 3:
        reader.skip()
        options.expected = noStream
        break
      case 4:
        reader.skip()
        options.expected = any
        break
      case 5:
        reader.skip()
        options.expected = streamExists
        break
      case 6: options.deadline = decodeMs(reader.message()); break
      case 7: options.deadline = Date.now() + decodeMs(reader.message()); break
      default: reader.skip()
    }
  }
  return options
}

function setStream (options: BatchOptions, identifier: Buffer): void {
  options.identifier = identifier
  options.name = decodeName(new Reader(identifier))
}

function setExact (options: BatchOptions, revision: bigint): void {
  options.exact = revision
  options.expected = Math.min(Number(revision), Number.MAX_SAFE_INTEGER)
}

function decodeName (reader: Reader): Buffer {
  let name: Buffer = empty
  while (reader.next()) {
    if (reader.field === 3) name = reader.bytes()
    else reader.skip()
  }
  return name
}

/** Milliseconds of a Timestamp, or of a Duration, which has the same fields. */
function decodeMs (reader: Reader): number {
  let ms = 0
  while (reader.next()) {
    if (reader.field === 1) ms += Number(BigInt.asIntN(64, reader.uint64())) * 1000
    else if (reader.field === 2) ms += Math.floor(reader.number() / 1e6)
    else reader.skip()
  }
  return ms
}

function decodeProposed (reader: Reader): ProposedMessage {
  const message: ProposedMessage = { id: '', type: undefined, contentType: undefined, data: empty, metadata: empty }
  while (reader.next()) {
    switch (reader.field) {
      case 1: message.id = decodeUuid(reader.message()); break
      case 2: decodeProperty(reader.message(), message); break
      case 3: message.metadata = reader.bytes(); break
      case 4: message.data = reader.bytes(); break
      default: reader.skip()
    }
  }
  return message
}

function decodeProperty (reader: Reader, message: ProposedMessage): void {
  let [key, value] = ['', '']
  while (reader.next()) {
    if (reader.field === 1) key = reader.text()
    else if (reader.field === 2) value = reader.text()
    else reader.skip()
  }
  if (key === 'type') message.type = value
  if (key === 'content-type') message.contentType = value
}

function decodeUuid (reader: Reader): string {
  let id = ''
  while (reader.next()) {
    if (reader.field === 2) id = reader.text()
    else if (reader.field === 1) id = decodeHalves(reader.message())
    else reader.skip()
  }
  return id
}

function decodeHalves (reader: Reader): string {
  let [most, least] = [0n, 0n]
  while (reader.next()) {
    if (reader.field === 1) most = reader.uint64()
    else if (reader.field === 2) least = reader.uint64()
    else reader.skip()
  }
  return uuidFromHalves(most, least)
}
