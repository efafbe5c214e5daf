// Postgres arrays in the binary form of the wire: a group of appends goes over without hex or quoting.
import { int64Max, tombstoneRevision } from './event.js'

const oid = { bool: 16, bytea: 17, int8: 20, text: 25, uuid: 2950 }

export const boolArray = (values: readonly boolean[]) => arrayOf(oid.bool, values, () => 1, (buffer, at, value) => { buffer[at] = value ? 1 : 0 })
export const byteaArray = (values: readonly Uint8Array[]) => arrayOf(oid.bytea, values, (value) => value.length, (buffer, at, value) => { buffer.set(value, at) })
export const textArray = (values: readonly string[]) => arrayOf(oid.text, values, (value) => Buffer.byteLength(value), (buffer, at, value) => { buffer.write(value, at) })
export const uuidArray = (values: readonly string[]) => arrayOf(oid.uuid, values, () => 16, (buffer, at, value) => { buffer.write(value.replaceAll('-', ''), at, 'hex') })
export const int8Array = (values: readonly number[]) => arrayOf(oid.int8, values, () => 8, (buffer, at, value) => { buffer.writeBigInt64BE(value === tombstoneRevision ? int64Max : BigInt(value), at) })

// Layout: dimensions, has-nulls, element type, length, lower bound; then each element behind its size.
function arrayOf<T> (elementType: number, values: readonly T[], sizeOf: (value: T) => number, write: (buffer: Buffer, at: number, value: T) => void): Buffer {
  const sizes = values.map(sizeOf)
  const buffer = Buffer.allocUnsafe(sizes.reduce((sum, size) => sum + 4 + size, 20))
  for (const [index, field] of [1, 0, elementType, values.length, 1].entries()) buffer.writeInt32BE(field, index * 4)
  let at = 20
  for (const [index, value] of values.entries()) {
    const size = sizes[index] ?? 0
    buffer.writeInt32BE(size, at)
    write(buffer, at + 4, value)
    at += 4 + size
  }
  return buffer
}
