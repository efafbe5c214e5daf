// What a process of Postgres is spawned with.
import type { Place } from './paths.js'

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
