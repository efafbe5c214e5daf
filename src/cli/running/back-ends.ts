// Opens the back ends of a command: those that are set, or embedded ones for as long as the command runs.
import { resolve } from 'node:path'
import { reachablePostgres } from '../../services/back-end-unreachable.js'
import type { Listening } from '../../services/embedded/stack.js'
import type { Urls } from '../../services/connections.js'
import type { Config } from '../../config.js'
import { packageRoot } from '../../package-root.js'
import { refuseOtherVersion } from '../../postgres/migrate.js'
import { ping } from '../../postgres/pool.js'
import { say } from './output.js'

const noTables = 'nothing runs here: DATABASE_URL leads to a database without our tables. ' +
  'Set it to the one that the service uses, or run `ringledger migrate` first.'

export interface BackEnds {
  urls: Urls
  /** The folder of embedded data; absent when every back end is set. */
  embeddedIn?: string
  /** Settles when an embedded back end died. */
  lost: Promise<Error>
  publish (extra: Record<string, unknown>): Promise<void>
  /** At once: embedded ones are killed, as Postgres does not answer. */
  close (options?: { atOnce?: boolean }): Promise<void>
}

/** What is made where there is nothing yet: nothing, the tables of DATABASE_URL, or also the embedded Postgres. */
export type Makes = 'nothing' | 'tables' | 'all'

interface Opening {
  /** `start` owns the DATA_DIR; a `command` joins the `start` that runs, or owns it for as long as it takes. */
  role: 'start' | 'command'
  /** Names the process to others on the same DATA_DIR. */
  command: string
  makes: Makes
  log?: (line: string) => void
  listening?: Listening
}

/** @throws NothingRuns, BackEndUnreachable */
export async function openBackEnds (
  config: Pick<Config, 'dataDir' | 'backEnds' | 'embeddedEventStorePort'>,
  { role, command, makes, log = say, listening }: Opening
): Promise<BackEnds> {
  const { databaseUrl, eventStoreUrl, redisUrl } = config.backEnds
  if (databaseUrl) await listening?.assertCanListen() // soonest
  // The embedded event store could not say which setting leads to a Postgres that is down.
  const postgres = databaseUrl ? await reachablePostgres(ping(databaseUrl)) : undefined
  if (postgres?.isInUse === false && makes === 'nothing') throw new Error(noTables)
  if (!postgres && makes !== 'all') {
    const { assertHoldsData } = await import('../../services/embedded/running-stack.js')
    await assertHoldsData(config.dataDir)
  }
  const { openStack } = await import('../../services/embedded/stack.js')
  const stack = await openStack({
    dataDir: config.dataDir,
    role,
    command,
    log,
    listening,
    eventStorePort: config.embeddedEventStorePort,
    check: (url) => refuseOtherVersion(url, packageRoot),
    ...(databaseUrl && { databaseUrl }),
    ...(eventStoreUrl && { eventStoreUrl })
  })
  return {
    urls: { databaseUrl: stack.databaseUrl, eventStoreUrl: stack.eventStoreUrl, redisUrl, dataIn: stack.dataIn },
    ...(!(databaseUrl && eventStoreUrl) && { embeddedIn: resolve(config.dataDir) }),
    lost: stack.lost,
    publish: (extra) => stack.publish(extra),
    close: (options) => stack.close(options)
  }
}
