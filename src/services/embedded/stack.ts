// Opens the embedded back ends of one DATA_DIR: starts them for one command, or joins the `start` that runs there.
import { setTimeout as delay } from 'node:timers/promises'
import { explained, prepareDataDir } from '@ringledger/embedded-postgres/data-dir'
import { acquireLock, DataDirInUseError, type Lock, type Role } from '@ringledger/embedded-postgres/lock'
import { findCluster } from '@ringledger/embedded-postgres/place'
import type { EmbeddedRequest, EmbeddedStack } from './own-stack.js'
import { readRunFile, type RunFile } from './running-stack.js'

// A command's back ends live only as long as the command; a `start` may first have migrations to run.
const WAIT_SECONDS: Record<Role, number> = { command: 10, start: 60 }

const NEVER = new Promise<never>(() => {})

/**
 * Opens the back ends that no URL is given for. @throws DataDirInUseError when another process holds DATA_DIR: for a
 * second `start` at once, for a command when the holder's own command does not end within 10 s
 */
export async function openStack (request: EmbeddedRequest): Promise<EmbeddedStack> {
  const { databaseUrl, eventStoreUrl } = request
  if (databaseUrl !== undefined && eventStoreUrl !== undefined) {
    return { ...foreign, databaseUrl, eventStoreUrl, joined: false, pids: {} }
  }
  const dataDir = prepareDataDir(request.dataDir)
  const held = await acquire(dataDir, request).catch((error: unknown) => { throw explained(dataDir, error) })
  if ('release' in held) {
    const { openOwn } = await import('./own-stack.js') // commands that join a `start` do without
    return { ...await openOwn(dataDir, held, request), dataIn: dataIn(dataDir, request) }
  }
  request.log(`Using the running stack of ${dataDir}`)
  const urls = { databaseUrl: databaseUrl ?? held.databaseUrl, eventStoreUrl: eventStoreUrl ?? held.eventStoreUrl }
  return { ...foreign, ...urls, dataIn: dataIn(dataDir, request), joined: true, pids: held.pids }
}

const dataIn = (dataDir: string, { databaseUrl }: EmbeddedRequest) =>
  databaseUrl === undefined ? findCluster(dataDir) : undefined

// Another process started these, so this one does not stop them.
const foreign = { lost: NEVER, publish: async () => {}, close: async () => {} }

/** Returns the lock, which the caller then holds, or the published stack of its holder. */
async function acquire (dataDir: string, { role, command, log }: EmbeddedRequest): Promise<Lock | RunFile> {
  const began = Date.now()
  for (let isLogged = false; ; isLogged = true) {
    const acquired = await acquireLock(dataDir, role, command)
    if (acquired.lock) return acquired.lock
    const { heldBy, number } = acquired
    // Another container has its own loopback, so its stack cannot be joined.
    if (heldBy.isElsewhere) throw new DataDirInUseError(dataDir, heldBy)
    const run = heldBy.role === 'start' && role === 'command' ? readRunFile(dataDir, number) : undefined
    if (run !== undefined) return run
    const isOver = Date.now() - began > WAIT_SECONDS[heldBy.role] * 1000
    if (isOver || (heldBy.role === 'start' && role === 'start')) throw new DataDirInUseError(dataDir, heldBy)
    const does = heldBy.role === 'start' ? 'is starting in' : 'uses'
    if (!isLogged) log(`Waiting for \`${heldBy.command}\` (pid ${heldBy.pid}), which ${does} ${dataDir}`)
    await delay(50)
  }
}
