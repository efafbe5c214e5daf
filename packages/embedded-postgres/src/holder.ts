// The process that holds a DATA_DIR, as the file of its lock names it.
import { basename } from 'node:path'
import { readJsonObject } from './json-file.js'
import type { ProcessIdentity } from './process-identity.js'

export type Role = 'start' | 'command'

export interface Holder extends ProcessIdentity {
  role: Role
  command: string
  since: string
  /** The name of its socket in the directory; none where that holds no sockets. */
  socket?: string
  /** It lives where its pid means nothing here, such as in another container. */
  isElsewhere: boolean
}

/** What the file of a lock says. */
export type HolderNote = Omit<Holder, 'isElsewhere'>

/** Undefined when the lock is free, or its file says nothing of use. */
export function readHolder (path: string): HolderNote | undefined {
  const { pid, started, role, command, since, socket } = readJsonObject(path) ?? {}
  if (typeof pid !== 'number' || typeof started !== 'string') return undefined
  return {
    pid,
    started,
    role: role === 'start' ? 'start' : 'command',
    command: String(command),
    since: String(since),
    ...(typeof socket === 'string' && { socket: basename(socket) })
  }
}

/** Another process holds this DATA_DIR. The message names both and says what to do. */
export class DataDirInUseError extends Error {
  constructor (dataDir: string, holder: Holder) {
    const [place, stop] = holder.isElsewhere
      ? ['in another container', 'stop that container']
      : [`pid ${holder.pid}`, `stop it (kill ${holder.pid})`]
    super(`DATA_DIR ${dataDir} is in use by \`${holder.command}\` (${place}, since ${holder.since}). ` +
      `Wait for it to end or ${stop}, or set DATA_DIR to another directory.`)
    this.name = 'DataDirInUseError'
  }
}
