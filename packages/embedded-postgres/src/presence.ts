// A socket in a directory that answers exactly as long as its process lives: also for a process of another container,
// which sees the directory and not the pid.
import { chmodSync, closeSync, openSync, rmSync } from 'node:fs'
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import { errorCode } from './json-file.js'

export interface Presence {
  /** Removes the socket. Its process may live on. */
  end(): void
}

/** The file system holds no sockets, or the path is too long for one. Pids alone must tell then. */
const cannotHold = ['EINVAL', 'ENAMETOOLONG', 'ENOTSUP', 'EOPNOTSUPP', 'EPERM', 'ENOSYS']

/** From now on `isPresent` for this name. Undefined where the directory can hold no socket. */
export async function showPresence (directory: string, name: string): Promise<Presence | undefined> {
  if (process.platform === 'win32') return undefined
  const server = createServer((socket) => socket.destroy()).unref()
  try {
    await withPath(directory, name, async (path) => { await once(server.listen(path), 'listening') })
    chmodSync(join(directory, name), 0o600)
  } catch (error) {
    if (cannotHold.includes(errorCode(error))) return undefined
    throw error
  }
  return {
    end () {
      server.close()
      rmSync(join(directory, name), { force: true })
    }
  }
}

/** Whether the process of this name lives. */
export async function isPresent (directory: string, name: string): Promise<boolean> {
  return await withPath(directory, name, (path) => new Promise((resolve) => {
    const socket = connect(path)
    const tell = (is: boolean) => {
      socket.destroy()
      resolve(is)
    }
    socket.once('connect', () => tell(true))
    // Only these say that nobody is there; too many callers at once, or another user's socket, do not.
    socket.once('error', (error) => tell(!['ECONNREFUSED', 'ENOENT', 'ENOTSOCK'].includes(errorCode(error))))
  }))
}

/** A path of a socket has some hundred bytes at most. By its directory's handle it is short wherever that lies. */
async function withPath<T> (directory: string, name: string, use: (path: string) => Promise<T>): Promise<T> {
  if (process.platform !== 'linux') return await use(join(directory, name))
  const handle = openSync(directory, 'r')
  try {
    return await use(`/proc/self/fd/${handle}/${name}`)
  } finally {
    closeSync(handle)
  }
}
