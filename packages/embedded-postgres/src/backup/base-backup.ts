// Postgres' own backup of a whole cluster, made while it works: a tar that it writes, with all that a recovery needs.
import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import pg from 'pg'

const connectWithinMs = 5_000

/**
 * The tar of the cluster, of the one instant at which the backup ended: `backup_label`, files that may be torn, and the
 * write-ahead log that mends them. A slot keeps that log from being recycled meanwhile, for as long as this connection
 * lives. `onSize` learns how long the tar becomes, about, in bytes.
 * @throws what Postgres says, for instance that a page is damaged on disk
 */
export async function * baseBackup (databaseUrl: string, onSize: (bytes: number) => void): AsyncGenerator<Buffer> {
  const client = new pg.Client({
    connectionString: `${databaseUrl}?replication=database`,
    application_name: 'ringledger backup',
    connectionTimeoutMillis: connectWithinMs
  })
  client.on('error', () => {}) // what is under way reports it
  await client.connect()
  try {
    const slot = `ringledger_backup_${randomUUID().replaceAll('-', '_')}`
    await client.query(`CREATE_REPLICATION_SLOT ${slot} TEMPORARY PHYSICAL (RESERVE_WAL true)`)
    yield * client.query(new BaseBackup(onSize)).tar
  } finally {
    await client.end() // at once when it is broken off, and Postgres ends the backup
  }
}

const command = "BASE_BACKUP (LABEL 'ringledger', CHECKPOINT 'fast', WAL true, PROGRESS true, MANIFEST 'no')"

/** The first byte of each message: another archive begins, or a piece of this one. Others are not asked for. */
const kinds = { archive: 'n'.charCodeAt(0), data: 'd'.charCodeAt(0) }

interface Row { fields: Array<Buffer | string | null> }

/** The command as the client of Postgres takes it, which calls `handle…` with each message of the answer. */
class BaseBackup implements pg.Submittable {
  readonly tar: Readable
  #connection: pg.Connection | undefined
  #columns: string[] = []
  #archives = 0

  constructor (private readonly onSize: (bytes: number) => void) {
    this.tar = new Readable({ read: () => { this.#connection?.stream.resume() } })
  }

  submit (connection: pg.Connection): void {
    this.#connection = connection
    connection.query(command)
  }

  handleRowDescription ({ fields }: { fields: Array<{ name: string }> }): void {
    this.#columns = fields.map(({ name }) => name)
  }

  /** Of the three tables of the answer only the second says a size, in KiB: one row for each tablespace. */
  handleDataRow ({ fields }: Row): void {
    const size = fields[this.#columns.indexOf('size')]
    if (size) this.onSize(Number(String(size)) * 1024)
  }

  handleCopyData ({ chunk }: { chunk: Buffer }): void {
    if (chunk[0] === kinds.archive && ++this.#archives > 1) {
      this.tar.destroy(new Error('This cluster has tablespaces of its own, which are not backed up by this command.'))
    }
    // The client uses its buffer again.
    if (chunk[0] === kinds.data && !this.tar.push(Buffer.from(chunk.subarray(1)))) this.#connection?.stream.pause()
  }

  handleCommandComplete (): void {}

  handleError (error: Error): void {
    this.tar.destroy(error)
  }

  handleReadyForQuery (): void {
    this.tar.push(null)
  }
}
