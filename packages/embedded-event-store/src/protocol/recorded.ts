// Encodes events by hand for speed, once for all receivers. Sends several events of a call in one write, as one write
// per event costs more than the encoding.
import { int64Max, tombstoneRevision, type RecordedEvent, type RowOfEvent } from '../log/event.js'
import { field, sizeOf, Writer } from './protobuf.js'

// Field numbers of streams.proto (ReadResp.event, ReadEvent.*, RecordedEvent.*) and shared.proto (UUID.string,
// StreamIdentifier.stream_name).
const of = {
  response: { event: 1 },
  readEvent: { event: 1, link: 2, commitPosition: 3 },
  recorded: { id: 1, stream: 2, revision: 3, prepare: 4, commit: 5, properties: 6, metadata: 7, data: 8 },
  entry: { key: 1, value: 2 },
  uuid: { string: 2 },
  identifier: { name: 3 }
}

/** A message that is written directly into the buffer that is sent. */
export interface Message {
  readonly size: number
  write (writer: Writer): void
}

/** `ReadResp{event}`. Caches the bytes in the event if other readers will want it. */
export function eventMessage (event: RecordedEvent): Message {
  if (event.encoded !== undefined) return encodedMessage(event.encoded)
  const message = new EventMessage(event.position, new Recorded(event))
  if (event.row !== undefined) return message
  event.encoded = bytesOf(message)
  return encodedMessage(event.encoded)
}

/** `ReadResp{event}` for a link and its target; without a target, only the link. */
export function linkResponse (link: RecordedEvent, target?: RecordedEvent): Buffer {
  return bytesOf(new EventMessage(link.position, target && new Recorded(target), new Recorded(link)))
}

const encodedMessage = (bytes: Buffer): Message => ({ size: bytes.length, write (writer) { writer.raw(bytes) } })

export const bytesOf = (message: Message): Buffer => {
  const writer = Writer.ofSize(message.size)
  message.write(writer)
  return writer.buffer
}

class EventMessage implements Message {
  readonly size: number
  readonly #inner: number

  constructor (
    private readonly position: number, private readonly event?: Recorded, private readonly link?: Recorded
  ) {
    const parts = (event ? sizeOf.bytes(event.size) : 0) + (link ? sizeOf.bytes(link.size) : 0)
    this.#inner = parts + sizeOf.number(position)
    this.size = sizeOf.bytes(this.#inner)
  }

  write (writer: Writer): void {
    const { position, event, link } = this
    writer.begin(of.response.event, this.#inner)
    event?.write(writer.begin(of.readEvent.event, event.size))
    link?.write(writer.begin(of.readEvent.link, link.size))
    writer.number(of.readEvent.commitPosition, position)
  }
}

/** The gRPC header of a message: compressed flag and length. */
const headSize = 5

/**
 * grpc-js allocates a buffer, writes a header, and has the message copied after it. This fake Buffer reports the total
 * length; its `copy` overwrites that header and writes all messages, each with its own.
 */
export function asOneMessage (messages: readonly Message[]): Buffer {
  const length = messages.reduce((sum, { size }) => sum + headSize + size, -headSize)
  const copy = (target: Buffer) => {
    const writer = new Writer(target)
    for (const message of messages) message.write(writer.byte(0).uint32(message.size))
    return length
  }
  return Object.defineProperties(Buffer.alloc(0), {
    length: { value: length }, byteLength: { value: length }, copy: { value: copy }
  })
}

function entry (key: string, value: string): Buffer {
  const parts = [field(of.entry.key, Buffer.from(key)), field(of.entry.value, Buffer.from(value))]
  return field(of.recorded.properties, Buffer.concat(parts))
}

const json = entry('content-type', 'application/json')
const binary = entry('content-type', 'application/octet-stream')
const typeKey = field(of.entry.key, Buffer.from('type'))
const createdKey = field(of.entry.key, Buffer.from('created'))

const idSize = 36
const ticks = '0000' // ms to units of 100 ns

/** In a Postgres row, the length before each field. */
const lengthSize = 4

interface Sizes { stream: number, type: number, metadata: number, data: number }

const sizesOf = ({ stream, type, metadata, data }: RecordedEvent): Sizes =>
  ({ stream: Buffer.byteLength(stream), type: Buffer.byteLength(type), metadata: metadata.length, data: data.length })

const sizesIn = ({ stream, streamEnd, typeEnd, metadataEnd, end }: RowOfEvent): Sizes => ({
  stream: streamEnd - stream,
  type: typeEnd - streamEnd - lengthSize,
  metadata: metadataEnd - typeEnd - lengthSize,
  data: end - metadataEnd - lengthSize
})

/**
 * An event as a field of a response: measured first, then written once into the buffer that is sent. Copies the bytes
 * of an event that is still a Postgres row without decoding them.
 */
class Recorded {
  readonly size: number
  readonly #sizes: Sizes
  readonly #revision: number
  readonly #contentType: Buffer
  readonly #created: string

  constructor (private readonly event: RecordedEvent) {
    const sizes = this.#sizes = event.row === undefined ? sizesOf(event) : sizesIn(event.row)
    this.#revision = event.revision
    this.#contentType = event.isJson ? json : binary
    this.#created = `${event.created}${ticks}`
    this.size = this.#placeSize + this.#propertiesSize + sizeOf.bytes(sizes.metadata) + sizeOf.bytes(sizes.data)
  }

  write (writer: Writer): void {
    const [event, row, sizes] = [this.event, this.event.row, this.#sizes]
    writer.begin(of.recorded.id, sizeOf.bytes(idSize))
    if (row === undefined) writer.text(of.uuid.string, event.id, idSize)
    else writer.uuid(of.uuid.string, row.bytes, row.id)
    writer.begin(of.recorded.stream, sizeOf.bytes(sizes.stream))
    if (row === undefined) writer.text(of.identifier.name, event.stream, sizes.stream)
    else writer.part(of.identifier.name, row.bytes, row.stream, row.streamEnd)
    if (this.#revision === tombstoneRevision) writer.uint64(of.recorded.revision, int64Max)
    else writer.number(of.recorded.revision, this.#revision)
    writer.number(of.recorded.prepare, event.position).number(of.recorded.commit, event.position)
    writer.begin(of.recorded.properties, this.#typeEntry).raw(typeKey)
    if (row === undefined) writer.text(of.entry.value, event.type, sizes.type)
    else writer.part(of.entry.value, row.bytes, row.streamEnd + lengthSize, row.typeEnd)
    writer.raw(this.#contentType)
      .begin(of.recorded.properties, this.#createdEntry).raw(createdKey)
      .text(of.entry.value, this.#created, this.#created.length)
    if (row === undefined) writer.bytes(of.recorded.metadata, event.metadata).bytes(of.recorded.data, event.data)
    else {
      writer.part(of.recorded.metadata, row.bytes, row.typeEnd + lengthSize, row.metadataEnd)
        .part(of.recorded.data, row.bytes, row.metadataEnd + lengthSize, row.end)
    }
  }

  get #placeSize (): number {
    const revision = this.#revision === tombstoneRevision ? 10 : sizeOf.number(this.#revision)
    const names = sizeOf.bytes(sizeOf.bytes(idSize)) + sizeOf.bytes(sizeOf.bytes(this.#sizes.stream))
    return names + revision + 2 * sizeOf.number(this.event.position)
  }

  get #propertiesSize (): number {
    return sizeOf.bytes(this.#typeEntry) + this.#contentType.length + sizeOf.bytes(this.#createdEntry)
  }

  get #typeEntry (): number {
    return typeKey.length + sizeOf.bytes(this.#sizes.type)
  }

  get #createdEntry (): number {
    return createdKey.length + sizeOf.bytes(this.#created.length)
  }
}
