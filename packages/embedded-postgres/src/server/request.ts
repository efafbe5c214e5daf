// What a Postgres server process is started with.
import type { Place } from '../cluster/paths.js'
import { spawnIds } from '../cluster/spawning.js'

/** As the lock of a cluster names who has it. */
export const serverOf = (dataDir: string) => `the Postgres of ${dataDir}`

/** From the starter to the supervisor, one line of JSON. */
export interface ServerRequest {
  binaries: string
  cluster: string
  dataDir: string
  args: string[]
  uid?: number
  gid?: number
}

/** The server on this port of loopback. Its settings come before postgresql.conf: durability and safety need them. */
export function serverRequest (place: Place, binaries: string, port: number): ServerRequest {
  const { dataDir, cluster, account } = place
  const settings = {
    listen_addresses: '127.0.0.1',
    port,
    unix_socket_directories: '',
    fsync: 'on',
    synchronous_commit: 'on',
    full_page_writes: 'on',
    logging_collector: 'off',
    log_destination: 'stderr',
    // The details of a constraint's error show the values of the row, such as phone numbers.
    log_error_verbosity: 'terse'
  }
  const args = ['-D', cluster, ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])]
  return { binaries, cluster, dataDir, args, ...spawnIds(account) }
}
