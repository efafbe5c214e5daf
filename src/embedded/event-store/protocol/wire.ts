// The messages that are sent by the thousand, written by hand: an event is encoded once, whoever receives it.
import { int64Max, type RecordedEvent, tombstoneRevision } from '../log/event.js'

// Tags: field number << 3 | 2 (length-delimited) or 0 (varint). Field numbers as in streams.proto and shared.proto.
const delimited = (field: number) => field << 3 | 2
const varint = (field: number) => field << 3

const entry = (key: string, value: string) => field(6, Buffer.concat([field(1, Buffer.from(key)), field(2, Buffer.from(value))]))
const json = entry('content-type', 'application/json')
const binary = entry('content-type', 'application/octet-stream')

/** `ReadResp{event}` for an event, or for a link and what it points to. */
export function readResponse (event: RecordedEvent, link?: RecordedEvent): Buffer {
  if (link === undefined && event.encoded !== undefined) return event.encoded
  const parts = link === undefined ? [field(1, recorded(event))] : [field(1, recorded(event)), field(2, recorded(link))]
  const response = field(1, Buffer.concat([...parts, number(3, (link ?? event).position)]))
  if (link === undefined) event.encoded = response
  return response
}

/** `ReadResp{event{link}}`: a link whose target is not there. */
export function danglingLink (link: RecordedEvent): Buffer {
  return field(1, Buffer.concat([field(2, recorded(link)), number(3, link.position)]))
}

function recorded (event: RecordedEvent): Buffer {
  const position = event.position
  return Buffer.concat([
    field(1, field(2, Buffer.from(event.id, 'latin1'))),
    field(2, field(3, Buffer.from(event.stream))),
    event.revision === tombstoneRevision ? Buffer.concat([Buffer.from([varint(3)]), bigVarint(int64Max)]) : number(3, event.revision),
    number(4, position),
    number(5, position),
    entry('type', event.type),
    event.isJson ? json : binary,
    entry('created', `${event.created}0000`), // ticks of 100 ns
    event.metadata.length === 0 ? empty : field(7, event.metadata),
    event.data.length === 0 ? empty : field(8, event.data)
  ])
}

const empty = Buffer.alloc(0)

function field (number: number, content: Uint8Array): Buffer {
  const size = varintSize(content.length)
  const buffer = Buffer.allocUnsafe(1 + size + content.length)
  buffer[0] = delimited(number)
  writeVarint(buffer, 1, content.length)
  buffer.set(content, 1 + size)
  return buffer
}

function number (field: number, value: number): Buffer {
  if (value === 0) return empty
  const buffer = Buffer.allocUnsafe(1 + varintSize(value))
  buffer[0] = varint(field)
  writeVarint(buffer, 1, value)
  return buffer
}

function varintSize (value: number): number {
  let size = 1
  for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 0x80)) size++
  return size
}

function writeVarint (buffer: Buffer, at: number, value: number): void {
  let rest = value
  let to = at
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) buffer[to++] = rest % 0x80 | 0x80
  buffer[to] = rest
}

function bigVarint (value: bigint): Buffer {
  const bytes: number[] = []
  let rest = value
  for (; rest >= 0x80n; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80)
  return Buffer.from([...bytes, Number(rest)])
}
