// Postgres arrays in the binary form of the wire: a group of appends goes over without hex or quoting.
import { int64Max, tombstoneRevision } from '../event.js'

interface ElementType<Value> {
  oid: number
  sizeOf (value: Value): number
  write (buffer: Buffer, at: number, value: Value): void
}

const bool: ElementType<boolean> = {
  oid: 16,
  sizeOf: () => 1,
  write (buffer, at, value) { buffer[at] = value ? 1 : 0 }
}

const bytea: ElementType<Uint8Array> = {
  oid: 17,
  sizeOf: (value) => value.length,
  write (buffer, at, value) { buffer.set(value, at) }
}

const int8: ElementType<number> = {
  oid: 20,
  sizeOf: () => 8,
  write (buffer, at, value) { buffer.writeBigInt64BE(value === tombstoneRevision ? int64Max : BigInt(value), at) }
}

const text: ElementType<string> = {
  oid: 25,
  sizeOf: (value) => Buffer.byteLength(value),
  write (buffer, at, value) { buffer.write(value, at) }
}

const uuid: ElementType<string> = {
  oid: 2950,
  sizeOf: () => 16,
  write (buffer, at, value) { buffer.write(value.replaceAll('-', ''), at, 'hex') }
}

export const boolArray = (values: readonly boolean[]) => arrayOf(bool, values)
export const byteaArray = (values: readonly Uint8Array[]) => arrayOf(bytea, values)
export const int8Array = (values: readonly number[]) => arrayOf(int8, values)
export const textArray = (values: readonly string[]) => arrayOf(text, values)
export const uuidArray = (values: readonly string[]) => arrayOf(uuid, values)

// Layout: dimensions, has-nulls, element type, length, lower bound; then each element behind its size.
function arrayOf<Value> ({ oid, sizeOf, write }: ElementType<Value>, values: readonly Value[]): Buffer {
  const sizes = values.map(sizeOf)
  const buffer = Buffer.allocUnsafe(sizes.reduce((sum, size) => sum + 4 + size, 20))
  for (const [index, field] of [1, 0, oid, values.length, 1].entries()) buffer.writeInt32BE(field, index * 4)
  let at = 20
  for (const [index, value] of values.entries()) {
    const size = sizes[index] ?? 0
    buffer.writeInt32BE(size, at)
    write(buffer, at + 4, value)
    at += 4 + size
  }
  return buffer
}
