// Rows as Postgres copies them out, in its binary format: nothing is written as hex, and a row comes in one piece.
import type pg from 'pg'

/** Is handed the first field of each row, up to the end of a buffer that `pg` uses again. */
type OnRow = (buffer: Buffer, from: number) => void
type Done = (error?: Error) => void

/** A statement for `pg`, of the form `copy (…) to stdout (format binary)`. */
export class CopyOut implements pg.Submittable {
  /** Set by `pg` as well, which limits its time. */
  callback: Done
  readonly #text: string
  readonly #onRow: OnRow
  #isFirst = true

  constructor (text: string, onRow: OnRow, callback: Done) {
    this.#text = text
    this.#onRow = onRow
    this.callback = callback
  }

  submit (connection: pg.Connection): void {
    connection.query(this.#text)
  }

  /** Postgres sends a message for each row; the first one has the head of the format before it. */
  handleCopyData ({ chunk }: { chunk: Buffer }): void {
    const at = this.#isFirst ? headSize : 0
    this.#isFirst = false
    if (chunk.readInt16BE(at) !== theEnd) this.#onRow(chunk, at + fieldCountSize)
  }

  handleError (error: Error): void {
    this.callback(error)
  }

  handleReadyForQuery (): void {
    this.callback()
  }

  handleCommandComplete (): void {} // ready for a query follows
}

const headSize = 19 // a signature of 11 bytes, flags, and the length of an extension that is not there
const fieldCountSize = 2
/** Stands where the number of fields of a further row would be. */
const theEnd = -1

/** Runs the statement on one of the pool's connections. */
export async function copyOut (pool: Pick<pg.Pool, 'connect'>, text: string, onRow: OnRow): Promise<void> {
  const client = await pool.connect()
  try {
    await new Promise<void>((resolve, reject) => {
      client.query(new CopyOut(text, onRow, (error) => error ? reject(error) : resolve()))
    })
    client.release()
  } catch (error) {
    client.release(true) // it may still be at work
    throw error
  }
}
