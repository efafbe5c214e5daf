// What a Postgres server process is started with.
import type { Place } from '../cluster/paths.js'

/** From the starter to the supervisor, one line of JSON. */
export interface ServerRequest {
  binaries: string
  cluster: string
  args: string[]
  /** The supervisor answers there for as long as it lives. */
  socket: { directory: string, name: string }
  uid?: number
  gid?: number
}

/** The server on this port of loopback. Its settings come before postgresql.conf: durability and safety need them. */
export function serverRequest (place: Place, binaries: string, port: number, socket: string): ServerRequest {
  const { cluster, account, dataDir } = place
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
  return { binaries, cluster, args, socket: { directory: dataDir, name: socket }, ...spawnIds(account) }
}

/** The ids to spawn a process of Postgres with; none: the caller's own. */
export function spawnIds (account: Place['account']): { uid?: number, gid?: number } {
  // spawn takes signed ids, stat shows unsigned ones
  return account === undefined ? {} : { uid: account.uid | 0, gid: account.gid | 0 }
}

/** The environment without the variables that would lead Postgres elsewhere. */
export function postgresEnvironment (): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !/^(PG|LC_|LANG|NODE_)/.test(name))
  return { ...Object.fromEntries(kept), LC_ALL: 'C', TZ: 'UTC' }
}
