// Events as they are sent: encoded by hand, for speed, and once for all receivers.
import { int64Max, type RecordedEvent, tombstoneRevision } from '../../log/event.js'
import { field, sizeOf, Writer } from '../protobuf.js'

// Field numbers as in streams.proto: ReadResp.event, ReadEvent.*, RecordedEvent.*;
// and as in shared.proto: UUID.string, StreamIdentifier.stream_name.
const of = {
  response: { event: 1 },
  readEvent: { event: 1, link: 2, commitPosition: 3 },
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

/** `ReadResp{event}` for an event, or for a link and what it points to. */
export function readResponse (event: RecordedEvent, link?: RecordedEvent): Buffer {
  if (link !== undefined) return response(link.position, eventField(event), linkField(link))
  event.encoded ??= response(event.position, eventField(event))
  return event.encoded
}

/** `ReadResp{event{link}}`: a link whose target is not there. */
export function danglingLink (link: RecordedEvent): Buffer {
  return response(link.position, linkField(link))
}

const eventField = (event: RecordedEvent) => field(of.readEvent.event, recorded(event))
const linkField = (link: RecordedEvent) => field(of.readEvent.link, recorded(link))

function response (position: number, ...parts: Buffer[]): Buffer {
  const size = parts.reduce((sum, part) => sum + part.length, sizeOf.number(position))
  const writer = new Writer(sizeOf.bytes(size)).begin(of.response.event, size)
  for (const part of parts) writer.raw(part)
  return writer.number(of.readEvent.commitPosition, position).buffer
}

const idSize = 36
const ticks = '0000' // milliseconds to units of 100 ns

function recorded (event: RecordedEvent): Buffer {
  const { id, stream, revision, position, metadata, data } = event
  const streamSize = Buffer.byteLength(stream)
  const properties = propertiesOf(event)
  const revisionSize = revision === tombstoneRevision ? 10 : sizeOf.number(revision)
  const places = sizeOf.bytes(sizeOf.bytes(streamSize)) + revisionSize + 2 * sizeOf.number(position)
  const contents = properties.size + sizeOf.bytes(metadata.length) + sizeOf.bytes(data.length)
  const size = sizeOf.bytes(sizeOf.bytes(idSize)) + places + contents
  const writer = new Writer(size)
    .begin(of.recorded.id, sizeOf.bytes(idSize)).text(of.uuid.string, id, idSize)
    .begin(of.recorded.stream, sizeOf.bytes(streamSize)).text(of.identifier.name, stream, streamSize)
  if (revision === tombstoneRevision) writer.uint64(of.recorded.revision, int64Max)
  else writer.number(of.recorded.revision, revision)
  writer.number(of.recorded.prepare, position).number(of.recorded.commit, position)
  properties.write(writer)
  return writer.bytes(of.recorded.metadata, metadata).bytes(of.recorded.data, data).buffer
}

/** The map of type, content type and time. */
function propertiesOf ({ type, isJson, created: createdMs }: RecordedEvent) {
  const typeSize = Buffer.byteLength(type)
  const typeEntry = typeKey.length + sizeOf.bytes(typeSize)
  const contentType = isJson ? json : binary
  const created = `${createdMs}${ticks}`
  const createdEntry = createdKey.length + sizeOf.bytes(created.length)
  return {
    size: sizeOf.bytes(typeEntry) + contentType.length + sizeOf.bytes(createdEntry),
    write (writer: Writer): void {
      writer
        .begin(of.recorded.properties, typeEntry).raw(typeKey).text(of.entry.value, type, typeSize)
        .raw(contentType)
        .begin(of.recorded.properties, createdEntry).raw(createdKey)
        .text(of.entry.value, created, created.length)
    }
  }
}
