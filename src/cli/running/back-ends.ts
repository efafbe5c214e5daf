// Opens the back ends of a command: those that are set, or embedded ones for as long as the command runs.
import { resolve } from 'node:path'
import { reachablePostgres } from '../../composition/back-end-unreachable.js'
import type { Listening } from '../../composition/embedded/stack.js'
import type { Urls } from '../../composition/connections.js'
import type { Config } from '../../config.js'
import { packageRoot } from '../../package-root.js'
import { refuseOtherVersion } from '../../postgres/migrate.js'
import { ping } from '../../postgres/pool.js'
import { say } from './output.js'

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

/** `start` owns the DATA_DIR; a `command` joins the `start` that runs, or owns it for as long as it takes. */
export async function openBackEnds (
  config: Pick<Config, 'dataDir' | 'backEnds' | 'embeddedEventStorePort'>, role: 'start' | 'command', command: string,
  log: (line: string) => void = say, listening?: Listening
): Promise<BackEnds> {
  const { databaseUrl, eventStoreUrl, redisUrl } = config.backEnds
  // The embedded event store could not say which setting leads to a Postgres that is down.
  if (databaseUrl) await listening?.assertCanListen() // soonest
  if (databaseUrl) await reachablePostgres(ping(databaseUrl))
  const { openStack } = await import('../../composition/embedded/stack.js')
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
