// An event that is still a row of Postgres: its bytes are copied, and no values are made of them.
import type { RecordedEvent, RowOfEvent } from '../../log/event.js'
import type { Writer } from '../protobuf.js'
import { of, Recorded } from './recorded.js'

/** Of each field of the row, the length that stands before the next one. */
const lengthSize = 4

export class RecordedRow extends Recorded {
  readonly #row: RowOfEvent

  constructor (event: RecordedEvent, row: RowOfEvent) {
    super(event, {
      stream: row.streamEnd - row.stream,
      type: row.typeEnd - row.streamEnd - lengthSize,
      metadata: row.metadataEnd - row.typeEnd - lengthSize,
      data: row.end - row.metadataEnd - lengthSize
    })
    this.#row = row
  }

  protected override writeId (writer: Writer): void {
    writer.uuid(of.uuid.string, this.#row.bytes, this.#row.id)
  }

  protected override writeStream (writer: Writer): void {
    writer.part(of.identifier.name, this.#row.bytes, this.#row.stream, this.#row.streamEnd)
  }

  protected override writeType (writer: Writer): void {
    writer.part(of.entry.value, this.#row.bytes, this.#row.streamEnd + lengthSize, this.#row.typeEnd)
  }

  protected override writeContents (writer: Writer): void {
    const { bytes, typeEnd, metadataEnd, end } = this.#row
    writer.part(of.recorded.metadata, bytes, typeEnd + lengthSize, metadataEnd)
    writer.part(of.recorded.data, bytes, metadataEnd + lengthSize, end)
  }
}
