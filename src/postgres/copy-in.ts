// Writes rows by COPY: Postgres takes them as they come, without a plan and without parameters.
import type { Connection, PoolClient, Submittable } from 'pg'

type Done = (error?: Error) => void

/** A statement for `pg`, of the form `COPY … FROM STDIN`, and what it copies, in one piece. */
class CopyIn implements Submittable {
  /** Set by `pg` as well, which limits its time. */
  callback: Done

  constructor (private readonly text: string, private readonly rows: Buffer, done: Done) {
    this.callback = done
  }

  submit (connection: Connection): void {
    connection.query(this.text)
  }

  handleCopyInResponse (connection: Sending): void {
    connection.sendCopyFromChunk(this.rows)
    connection.endCopyFrom()
  }

  handleError (error: Error): void {
    this.callback(error)
  }

  handleReadyForQuery (): void {
    this.callback()
  }

  handleCommandComplete (): void {} // ready for a query follows
}

/** What a connection of `pg` has besides what its types say. */
interface Sending {
  sendCopyFromChunk (chunk: Buffer): void
  endCopyFrom (): void
}

/** Runs the statement, which is to have no other rows than these. */
export async function copyIn (tx: PoolClient, text: string, rows: Buffer): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    tx.query(new CopyIn(text, rows, (error) => error ? reject(error) : resolve()))
  })
}
