// Reads the wire format of protobuf, as far as the busiest messages need it.

/** Reads the fields of one message. */
export class Reader {
  readonly #buffer: Buffer
  #at = 0
  #wire = 0
  /** The number of the field that `next` moved to. */
  field = 0

  constructor (buffer: Buffer) {
    this.#buffer = buffer
  }

  /** Moves to the next field; its value must then be read, or skipped. */
  next (): boolean {
    if (this.#at >= this.#buffer.length) return false
    const tag = this.number()
    this.field = tag >>> 3
    this.#wire = tag & 7
    return true
  }

  /** A varint that is known to be small. */
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

  /** A part of the message, not a copy. */
  bytes (): Buffer {
    const length = this.number()
    const start = this.#at
    this.#at += length
    if (this.#at > this.#buffer.length) throw new Error('The message ends in the middle of a field')
    return this.#buffer.subarray(start, this.#at)
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
    const byte = this.#buffer[this.#at++]
    if (byte === undefined) throw new Error('The message ends in the middle of a field')
    return byte
  }
}
