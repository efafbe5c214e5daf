// Events as they are sent: encoded by hand, for speed, and once for all who receive them.
import { int64Max, type RecordedEvent, tombstoneRevision } from '../log/event.js'
import { field, sizeOf, Writer } from './protobuf.js'

// Field numbers as in streams.proto: ReadResp.event, ReadEvent.*, RecordedEvent.*; in shared.proto: UUID.string, StreamIdentifier.stream_name.
const of = {
  response: { event: 1 },
  readEvent: { event: 1, link: 2, commitPosition: 3 },
  recorded: { id: 1, stream: 2, revision: 3, prepare: 4, commit: 5, properties: 6, metadata: 7, data: 8 },
  entry: { key: 1, value: 2 },
  uuid: { string: 2 },
  identifier: { name: 3 }
}

const entry = (key: string, value: string) => field(of.recorded.properties, Buffer.concat([field(of.entry.key, Buffer.from(key)), field(of.entry.value, Buffer.from(value))]))
const json = entry('content-type', 'application/json')
const binary = entry('content-type', 'application/octet-stream')
const typeKey = field(of.entry.key, Buffer.from('type'))
const createdKey = field(of.entry.key, Buffer.from('created'))

/** `ReadResp{event}` for an event, or for a link and what it points to. */
export function readResponse (event: RecordedEvent, link?: RecordedEvent): Buffer {
  if (link !== undefined) return response(link.position, field(of.readEvent.event, recorded(event)), field(of.readEvent.link, recorded(link)))
  event.encoded ??= response(event.position, field(of.readEvent.event, recorded(event)))
  return event.encoded
}

/** `ReadResp{event{link}}`: a link whose target is not there. */
export function danglingLink (link: RecordedEvent): Buffer {
  return response(link.position, field(of.readEvent.link, recorded(link)))
}

function response (position: number, ...parts: Buffer[]): Buffer {
  const size = parts.reduce((sum, part) => sum + part.length, sizeOf.number(position))
  const writer = new Writer(sizeOf.bytes(size)).begin(of.response.event, size)
  for (const part of parts) writer.raw(part)
  return writer.number(of.readEvent.commitPosition, position).buffer
}

const idSize = 36
const ticks = '0000' // milliseconds to units of 100 ns

function recorded (event: RecordedEvent): Buffer {
  const { id, stream, revision, position, type, isJson, metadata, data } = event
  const created = `${event.created}${ticks}`
  const [streamSize, typeSize] = [Buffer.byteLength(stream), Buffer.byteLength(type)]
  const typeEntry = typeKey.length + sizeOf.bytes(typeSize)
  const createdEntry = createdKey.length + sizeOf.bytes(created.length)
  const revisionSize = revision === tombstoneRevision ? 10 : sizeOf.number(revision)
  const size = sizeOf.bytes(sizeOf.bytes(idSize)) + sizeOf.bytes(sizeOf.bytes(streamSize)) + revisionSize + 2 * sizeOf.number(position) +
    sizeOf.bytes(typeEntry) + json.length * Number(isJson) + binary.length * Number(!isJson) + sizeOf.bytes(createdEntry) +
    sizeOf.bytes(metadata.length) + sizeOf.bytes(data.length)
  const writer = new Writer(size)
    .begin(of.recorded.id, sizeOf.bytes(idSize)).text(of.uuid.string, id, idSize)
    .begin(of.recorded.stream, sizeOf.bytes(streamSize)).text(of.identifier.name, stream, streamSize)
  if (revision === tombstoneRevision) writer.uint64(of.recorded.revision, int64Max)
  else writer.number(of.recorded.revision, revision)
  return writer.number(of.recorded.prepare, position).number(of.recorded.commit, position)
    .begin(of.recorded.properties, typeEntry).raw(typeKey).text(of.entry.value, type, typeSize)
    .raw(isJson ? json : binary)
    .begin(of.recorded.properties, createdEntry).raw(createdKey).text(of.entry.value, created, created.length)
    .bytes(of.recorded.metadata, metadata).bytes(of.recorded.data, data).buffer
}
