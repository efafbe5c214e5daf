// Reads rows with COPY in Postgres' binary format: no hex encoding, and each row arrives in one piece.
import type pg from 'pg'
import { type RecordedEvent, type RowOfEvent, tombstoneRevision } from './event.js'

/** In the order that the offsets of `CopiedEvent` assume. */
export const copiedColumns = 'position, revision, created, id, is_json, stream, type, metadata, data'

// Each field follows its length; fields of fixed size come first.
const at = { position: 4, revision: 16, created: 28, id: 40, isJson: 60, stream: 65 }
const lengthSize = 4

/** A lazy view on the bytes of a row: each part is decoded on access. */
class CopiedEvent implements RecordedEvent {
  readonly position: number
  readonly size: number
  readonly row: RowOfEvent

  /** @param rows must not change; `start` to `end` is one row of `copiedColumns` */
  constructor (rows: Buffer, start: number, end: number) {
    const stream = start + at.stream
    const streamEnd = stream + lengthBefore(rows, stream)
    const typeEnd = streamEnd + lengthSize + lengthBefore(rows, streamEnd + lengthSize)
    const metadataEnd = typeEnd + lengthSize + lengthBefore(rows, typeEnd + lengthSize)
    this.row = { bytes: rows, id: start + at.id, stream, streamEnd, typeEnd, metadataEnd, end }
    this.position = numberAt(rows, start + at.position)
    this.size = end - typeEnd - 2 * lengthSize
  }

  get revision (): number {
    const revision = this.#number(at.revision)
    return Number.isSafeInteger(revision) ? revision : tombstoneRevision
  }

  get created (): number {
    return this.#number(at.created)
  }

  get id (): string {
    const hex = this.row.bytes.toString('hex', this.row.id, this.row.id + 16)
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
  }

  get isJson (): boolean {
    return this.row.bytes[this.row.id - at.id + at.isJson] === 1
  }

  get stream (): string {
    return this.row.bytes.toString('utf8', this.row.stream, this.row.streamEnd)
  }

  get type (): string {
    return this.row.bytes.toString('utf8', this.row.streamEnd + lengthSize, this.row.typeEnd)
  }

  get metadata (): Buffer {
    return this.row.bytes.subarray(this.row.typeEnd + lengthSize, this.row.metadataEnd)
  }

  get data (): Buffer {
    return this.row.bytes.subarray(this.row.metadataEnd + lengthSize, this.row.end)
  }

  #number (field: number): number {
    return numberAt(this.row.bytes, this.row.id - at.id + field)
  }
}

const lengthBefore = (rows: Buffer, field: number) => rows.readInt32BE(field - lengthSize)
const numberAt = (rows: Buffer, field: number) => rows.readInt32BE(field) * 2 ** 32 + rows.readUInt32BE(field + 4)

const pieceSize = 64 * 1024

/** A `pg` statement of the form `copy (select <copiedColumns> …) to stdout (format binary)`. */
class CopyOut implements pg.Submittable {
  readonly events: CopiedEvent[] = []
  #isFirst = true
  #piece = Buffer.alloc(0)
  #at = 0

  /** @param callback `pg` replaces it to add its timeout */
  constructor (private readonly text: string, public callback: (error?: Error) => void) {}

  submit (connection: pg.Connection): void {
    connection.query(this.text)
  }

  /** Postgres sends a message per row, in a buffer that `pg` reuses. The first one starts with the format's header. */
  handleCopyData ({ chunk }: { chunk: Buffer }): void {
    const at = this.#isFirst ? headSize : 0
    this.#isFirst = false
    if (chunk.readInt16BE(at) !== theEnd) this.#add(chunk, at + fieldCountSize)
  }

  handleError (error: Error): void {
    this.callback(error)
  }

  handleReadyForQuery (): void {
    this.callback()
  }

  handleCommandComplete (): void {} // readyForQuery follows

  /** Packs rows into shared buffers, as one buffer per row would burden the garbage collector. */
  #add (chunk: Buffer, from: number): void {
    const size = chunk.length - from
    if (this.#at + size > this.#piece.length) {
      this.#piece = Buffer.allocUnsafeSlow(Math.max(pieceSize, size))
      this.#at = 0
    }
    const start = this.#at
    this.#at += chunk.copy(this.#piece, start, from)
    this.events.push(new CopiedEvent(this.#piece, start, this.#at))
  }
}

const headSize = 19 // 11 bytes of signature, flags, and the length of the empty extension
const fieldCountSize = 2
/** In place of the field count of a further row. */
const theEnd = -1

export async function copyEvents (pool: Pick<pg.Pool, 'connect'>, text: string): Promise<RecordedEvent[]> {
  const client = await pool.connect()
  try {
    const copied = await new Promise<CopyOut>((resolve, reject) => {
      const copying: CopyOut = new CopyOut(text, (error) => error ? reject(error) : resolve(copying))
      client.query(copying)
    })
    client.release()
    return copied.events
  } catch (error) {
    client.release(true) // the statement may still run
    throw error
  }
}
