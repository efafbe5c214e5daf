// An event as a field of a response: measured, and then written once where it is sent from.
import { int64Max, type RecordedEvent, tombstoneRevision } from '../../log/event.js'
import { field, sizeOf, type Writer } from '../protobuf.js'

// Field numbers as in streams.proto: RecordedEvent.*;
// and as in shared.proto: UUID.string, StreamIdentifier.stream_name.
export const of = {
  recorded: { id: 1, stream: 2, revision: 3, prepare: 4, commit: 5, properties: 6, metadata: 7, data: 8 },
  entry: { key: 1, value: 2 },
  uuid: { string: 2 },
  identifier: { name: 3 }
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
const ticks = '0000' // milliseconds to units of 100 ns

/** In bytes. */
interface Sizes { stream: number, type: number, metadata: number, data: number }

export abstract class Recorded {
  readonly size: number
  readonly #sizes: Sizes
  readonly #position: number
  readonly #revision: number
  readonly #contentType: Buffer
  readonly #created: string

  constructor (event: RecordedEvent, sizes: Sizes) {
    this.#sizes = sizes
    this.#position = event.position
    this.#revision = event.revision
    this.#contentType = event.isJson ? json : binary
    this.#created = `${event.created}${ticks}`
    this.size = this.#placeSize + this.#propertiesSize + sizeOf.bytes(sizes.metadata) + sizeOf.bytes(sizes.data)
  }

  protected abstract writeId (writer: Writer): void
  protected abstract writeStream (writer: Writer): void
  protected abstract writeType (writer: Writer): void
  protected abstract writeContents (writer: Writer): void

  write (writer: Writer): void {
    this.writeId(writer.begin(of.recorded.id, sizeOf.bytes(idSize)))
    this.writeStream(writer.begin(of.recorded.stream, sizeOf.bytes(this.#sizes.stream)))
    if (this.#revision === tombstoneRevision) writer.uint64(of.recorded.revision, int64Max)
    else writer.number(of.recorded.revision, this.#revision)
    writer.number(of.recorded.prepare, this.#position).number(of.recorded.commit, this.#position)
    this.#writeProperties(writer)
    this.writeContents(writer)
  }

  get #placeSize (): number {
    const revision = this.#revision === tombstoneRevision ? 10 : sizeOf.number(this.#revision)
    const names = sizeOf.bytes(sizeOf.bytes(idSize)) + sizeOf.bytes(sizeOf.bytes(this.#sizes.stream))
    return names + revision + 2 * sizeOf.number(this.#position)
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

  /** The map of type, content type and time. */
  #writeProperties (writer: Writer): void {
    this.writeType(writer.begin(of.recorded.properties, this.#typeEntry).raw(typeKey))
    writer.raw(this.#contentType)
      .begin(of.recorded.properties, this.#createdEntry).raw(createdKey)
      .text(of.entry.value, this.#created, this.#created.length)
  }
}

export class RecordedValues extends Recorded {
  readonly #event: RecordedEvent
  readonly #streamSize: number
  readonly #typeSize: number

  constructor (event: RecordedEvent) {
    const { stream, type, metadata, data } = event
    const [streamSize, typeSize] = [Buffer.byteLength(stream), Buffer.byteLength(type)]
    super(event, { stream: streamSize, type: typeSize, metadata: metadata.length, data: data.length })
    this.#event = event
    this.#streamSize = streamSize
    this.#typeSize = typeSize
  }

  protected override writeId (writer: Writer): void {
    writer.text(of.uuid.string, this.#event.id, idSize)
  }

  protected override writeStream (writer: Writer): void {
    writer.text(of.identifier.name, this.#event.stream, this.#streamSize)
  }

  protected override writeType (writer: Writer): void {
    writer.text(of.entry.value, this.#event.type, this.#typeSize)
  }

  protected override writeContents (writer: Writer): void {
    writer.bytes(of.recorded.metadata, this.#event.metadata).bytes(of.recorded.data, this.#event.data)
  }
}
