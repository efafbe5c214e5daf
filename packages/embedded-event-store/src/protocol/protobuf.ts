// Writes and reads the protobuf wire format for the most frequent messages; all others use the generated code.

/** Writes messages of known size. */
export class Writer {
  readonly buffer: Buffer
  #at: number

  /** @param into must have room for everything written from `at` on */
  constructor (into: Buffer, at = 0) {
    this.buffer = into
    this.#at = at
  }

  static ofSize (size: number): Writer {
    return new Writer(Buffer.allocUnsafe(size))
  }

  /** Big-endian, as in the header of a gRPC message. */
  uint32 (value: number): this {
    this.#at = this.buffer.writeUInt32BE(value, this.#at)
    return this
  }

  byte (value: number): this {
    this.buffer[this.#at++] = value
    return this
  }

  number (field: number, value: number): this {
    this.#varint(field << 3)
    this.#varint(value)
    return this
  }

  uint64 (field: number, value: bigint): this {
    this.#varint(field << 3)
    let rest = value
    for (; rest >= 0x80n; rest >>= 7n) this.buffer[this.#at++] = Number(rest & 0x7fn) | 0x80
    this.buffer[this.#at++] = Number(rest)
    return this
  }

  /** Begins a field of `length` bytes, which must be written next. */
  begin (field: number, length: number): this {
    this.#varint(field << 3 | 2)
    this.#varint(length)
    return this
  }

  bytes (field: number, value: Uint8Array): this {
    this.begin(field, value.length)
    this.buffer.set(value, this.#at)
    this.#at += value.length
    return this
  }

  /** `length` in bytes: the caller had to compute it anyway. */
  text (field: number, value: string, length: number): this {
    this.begin(field, length)
    this.#at += this.buffer.write(value, this.#at, length === value.length ? 'latin1' : 'utf8')
    return this
  }

  /** Copies part of a buffer, without allocating a view for the garbage collector. */
  part (field: number, from: Buffer, start: number, end: number): this {
    this.begin(field, end - start)
    this.#at += from.copy(this.buffer, this.#at, start, end)
    return this
  }

  /** Writes a UUID of 16 bytes as text. */
  uuid (field: number, from: Buffer, start: number): this {
    this.begin(field, 36)
    for (let index = 0; index < 16; index++) {
      if (index === 4 || index === 6 || index === 8 || index === 10) this.buffer[this.#at++] = hyphen
      const value = from[start + index] ?? 0
      this.buffer[this.#at++] = digits[value >>> 4] ?? 0
      this.buffer[this.#at++] = digits[value & 15] ?? 0
    }
    return this
  }

  raw (value: Uint8Array): this {
    this.buffer.set(value, this.#at)
    this.#at += value.length
    return this
  }

  #varint (value: number): void {
    let rest = value
    for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) this.buffer[this.#at++] = rest % 0x80 | 0x80
    this.buffer[this.#at++] = rest
  }
}

const hyphen = 0x2d
const digits = Buffer.from('0123456789abcdef')

/** Sizes in bytes. All field numbers here are below 16, so a tag takes one byte. */
export const sizeOf = {
  varint (value: number): number {
    let size = 1
    for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 0x80)) size++
    return size
  },
  number: (value: number) => 1 + sizeOf.varint(value),
  bytes: (length: number) => 1 + sizeOf.varint(length) + length
}

export function field (number: number, content: Uint8Array): Buffer {
  return Writer.ofSize(sizeOf.bytes(content.length)).bytes(number, content).buffer
}

export class Reader {
  #at = 0
  #wire = 0

  constructor (private readonly buffer: Buffer) {}

  /** Calls the function of each field, which must read or skip its value. Skips fields without one. */
  each (fields: Readonly<Record<number, () => void>>): void {
    while (this.#at < this.buffer.length) {
      const tag = this.number()
      this.#wire = tag & 7
      const read = fields[tag >>> 3]
      if (read === undefined) this.skip()
      else read()
    }
  }

  /** A varint below 2^53. */
  number (): number {
    let value = 0
    for (let factor = 1; ; factor *= 0x80) {
      const byte = this.#byte()
      value += (byte & 0x7f) * factor
      if (byte < 0x80) return value
    }
  }

  uint64 (): bigint {
    let value = 0n
    for (let shift = 0n; ; shift += 7n) {
      const byte = this.#byte()
      value |= BigInt(byte & 0x7f) << shift
      if (byte < 0x80) return BigInt.asUintN(64, value)
    }
  }

  /** A view, not a copy. */
  bytes (): Buffer {
    const length = this.number()
    const start = this.#at
    this.#at += length
    if (this.#at > this.buffer.length) throw new Error('The message ends in the middle of a field')
    return this.buffer.subarray(start, this.#at)
  }

  text (): string {
    return this.bytes().toString('utf8')
  }

  message (): Reader {
    return new Reader(this.bytes())
  }

  skip (): void {
    switch (this.#wire) {
      case 0: this.number(); break
      case 1: this.#at += 8; break
      case 2: this.bytes(); break
      case 5: this.#at += 4; break
      default: throw new Error(`No such wire type: ${this.#wire}`)
    }
  }

  #byte (): number {
    const byte = this.buffer[this.#at++]
    if (byte === undefined) throw new Error('The message ends in the middle of a field')
    return byte
  }
}
