// The command line: a server for tests and for a machine with a single user, on a Postgres that is given or its own.
import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { openOwnDatabase } from './own-database.js'
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
