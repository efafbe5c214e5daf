// Events as they are sent: encoded by hand, for speed, and once for all receivers; several of a call as one write,
// since a write of its own for each costs more than to encode it.
import type { RecordedEvent } from '../../log/event.js'
import { sizeOf, Writer } from '../protobuf.js'
import { RecordedRow } from './recorded-row.js'
import { type Recorded, RecordedValues } from './recorded.js'

// Field numbers as in streams.proto: ReadResp.event, ReadEvent.*.
const of = { response: { event: 1 }, readEvent: { event: 1, link: 2, commitPosition: 3 } }

/** A message that is written where it is sent from. */
export interface Message {
  readonly size: number
  write (writer: Writer): void
}

/** `ReadResp{event}`: bytes that are kept with the event where others will read it too. */
export function eventMessage (event: RecordedEvent): Message {
  if (event.encoded !== undefined) return encodedMessage(event.encoded)
  const message = new EventMessage(event.position, recorded(event))
  if (event.row !== undefined) return message
  event.encoded = bytesOf(message)
  return encodedMessage(event.encoded)
}

/** `ReadResp{event}` for a link and what it points to, `ReadResp{event{link}}` where that is not there. */
export function linkResponse (link: RecordedEvent, target?: RecordedEvent): Buffer {
  return bytesOf(new EventMessage(link.position, target && recorded(target), recorded(link)))
}

const encodedMessage = (bytes: Buffer): Message => ({ size: bytes.length, write (writer) { writer.raw(bytes) } })

export const bytesOf = (message: Message): Buffer => {
  const writer = Writer.ofSize(message.size)
  message.write(writer)
  return writer.buffer
}

const recorded = (event: RecordedEvent): Recorded =>
  event.row === undefined ? new RecordedValues(event) : new RecordedRow(event, event.row)

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

/** What gRPC has before a message: whether it is compressed, and its length. */
const headSize = 5

/**
 * grpc-js makes a buffer, writes a head into it, and has the bytes of its message copied behind that. What is handed
 * over here says how long it is, and writes all messages, each with a head of its own, from that buffer's beginning.
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
