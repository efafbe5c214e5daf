// Several messages of a call as one write: a write of its own for each costs more than to encode it.
import { Writer } from '../protobuf.js'
import type { Message } from './wire.js'

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
