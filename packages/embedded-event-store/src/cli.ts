// The command line: a server for tests and for a machine with a single user, on a Postgres that is given or its own.
import { mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { removeDataDir, startPostgres } from '@ringledger/embedded-postgres'
import { explained, prepareDataDir } from '@ringledger/embedded-postgres/data-dir'
import { acquireLock, DataDirInUseError } from '@ringledger/embedded-postgres/lock'
import { fail, portFrom, say, serve } from './serve.js'

const usage = `Usage: embedded-event-store [options]

A server of the EventStoreDB protocol on 127.0.0.1, without login. It keeps its events in Postgres.
Prints "LISTENING <port>" when it answers. SIGINT or SIGTERM end it.

  --port <port>          port to listen on; 0 takes any (default: 2113)
  --database-url <url>   a Postgres to use (default: DATABASE_URL; else it starts one of its own)
  --data-dir <path>      where its own Postgres keeps the events (default: DATA_DIR, else ./.event-store)
  --temporary            its own Postgres in a temporary directory, which is removed at the end
  --version              print the version
  --help                 print this text
`

const options = {
  port: { type: 'string', default: '2113' },
  'database-url': { type: 'string', default: process.env.DATABASE_URL },
  'data-dir': { type: 'string', default: process.env.DATA_DIR || '.event-store' },
  temporary: { type: 'boolean', default: false },
  version: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false }
} as const

const values = readOptions()
if (values.help) process.stdout.write(usage)
else if (values.version) process.stdout.write(`${version()}\n`)
else await run(portFrom(values.port))

async function run (port: number): Promise<void> {
  const given = values.temporary ? undefined : values['database-url']
  const dataDir = values.temporary ? undefined : values['data-dir']
  const own = given ? undefined : await openOwnDatabase(dataDir, port, say).catch(fail)
  const databaseUrl = given || own?.url || fail('no database')
  void own?.lost.then(fail)
  const { url } = await serve({ databaseUrl, port, closeDatabase: own?.close })
  say(`Clients connect to ${url}`)
}

function readOptions () {
  try {
    return parseArgs({ options }).values
  } catch (error) {
    say(usage)
    return fail(error)
  }
}

function version (): string {
  const { version }: { version: string } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
  return version
}

interface OwnDatabase {
  url: string
  /** Settles when Postgres ended and was not closed. */
  lost: Promise<Error>
  close: () => Promise<void>
}

/**
 * For a server on `port`: in `path`, which is made when it is missing, or else in a temporary directory, which `close`
 * removes.
 */
async function openOwnDatabase (
  path: string | undefined, port: number, log: (line: string) => void
): Promise<OwnDatabase> {
  const dataDir = prepareDataDir(path ?? mkdtempSync(join(tmpdir(), 'event-store-')))
  const { lock, heldBy } = await acquireLock(dataDir, 'start', 'embedded-event-store')
  if (heldBy !== undefined) throw new DataDirInUseError(dataDir, heldBy)
  const leave = () => path === undefined ? removeDataDir(dataDir) : lock.release()
  try {
    const { url, lost, close } = await startPostgres({ dir: dataDir, otherPorts: [port], log })
    return { url, lost, close: () => close().finally(leave) }
  } catch (error) {
    leave()
    throw explained(dataDir, error)
  }
}
