// The embedded back ends of one DATA_DIR: started for one command, or shared with the `start` that runs there.
import { setTimeout as delay } from 'node:timers/promises'
import { startEventStoreProcess } from '@ringledger/embedded-event-store/child'
import { findCluster, startPostgres } from '@ringledger/embedded-postgres'
import { explained, prepareDataDir } from '@ringledger/embedded-postgres/data-dir'
import { acquireLock, DataDirInUseError, type Lock, type Role } from '@ringledger/embedded-postgres/lock'
import { eventStorePort } from './event-store-port.js'
import { readRunFile, removeRunFile, writeRunFile, type RunFile } from './run-file.js'

// A command's own back ends live as long as the command; a start that begins may have migrations to run.
const WAIT_SECONDS: Record<Role, number> = { command: 10, start: 60 }

export interface EmbeddedRequest {
  /** Absolute or relative to the working directory; created, mode 0700, when missing. */
  dataDir: string
  /** `start` publishes run.json for other commands. */
  role: Role
  /** For the error of another process that is refused, such as `ringledger start`. */
  command: string
  /** Given: no embedded Postgres. */
  databaseUrl?: string
  /** Given: no embedded event store. */
  eventStoreUrl?: string
  /** Of a `start`; 0 for any free one, absent for one that is kept. A command takes any. */
  eventStorePort?: number | undefined
  /** Receives progress, a line at a time, for people. */
  log: (line: string) => void
}

export interface EmbeddedStack {
  databaseUrl: string
  eventStoreUrl: string
  /** The directory of the embedded Postgres, where there is one. */
  dataIn?: string | undefined
  /** Whether this is the stack of a running `start`, which close() leaves alone. */
  joined: boolean
  pids: Record<string, number>
  /** Settles when an embedded process ended without being closed. */
  lost: Promise<Error>
  /** Role `start`: writes run.json (mode 0600, atomically) with URLs, pids and these further values. */
  publish(extra: Record<string, unknown>): Promise<void>
  /** Stops the event store, then Postgres, then releases DATA_DIR. Idempotent. */
  close(): Promise<void>
}

interface Part {
  lost: Promise<Error>
  close(): Promise<void>
}

const NEVER = new Promise<never>(() => {})

/**
 * Opens the back ends that no URL is given for. Throws DataDirInUseError when another process holds DATA_DIR:
 * for a second `start` at once, for a command when the holder's own command does not end within 10 s.
 */
export async function openStack (request: EmbeddedRequest): Promise<EmbeddedStack> {
  const { databaseUrl, eventStoreUrl } = request
  if (databaseUrl !== undefined && eventStoreUrl !== undefined) {
    return { ...foreign, databaseUrl, eventStoreUrl, joined: false, pids: {} }
  }
  const dataDir = prepareDataDir(request.dataDir)
  const held = await acquire(dataDir, request).catch((error: unknown) => { throw explained(dataDir, error) })
  if ('release' in held) return await openOwn(dataDir, held, request)
  request.log(`Using the running stack of ${dataDir}`)
  const urls = { databaseUrl: databaseUrl ?? held.databaseUrl, eventStoreUrl: eventStoreUrl ?? held.eventStoreUrl }
  return { ...foreign, ...urls, dataIn: dataIn(dataDir, request), joined: true, pids: held.pids }
}

const dataIn = (dataDir: string, { databaseUrl }: EmbeddedRequest) =>
  databaseUrl === undefined ? findCluster(dataDir) : undefined

const causeWithinMs = 1_000

// This process does not end what another one has started.
const foreign = { lost: NEVER, publish: async () => {}, close: async () => {} }

/** The lock, which the caller holds now, or the published stack of its holder. */
async function acquire (dataDir: string, { role, command, log }: EmbeddedRequest): Promise<Lock | RunFile> {
  const began = Date.now()
  for (let isLogged = false; ; isLogged = true) {
    const acquired = await acquireLock(dataDir, role, command)
    if (acquired.lock) return acquired.lock
    const { heldBy, number } = acquired
    // Loopback of another container is not ours.
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

async function openOwn (dataDir: string, lock: Lock, request: EmbeddedRequest): Promise<EmbeddedStack> {
  const { databaseUrl, eventStoreUrl, role, log } = request
  const parts: Part[] = []
  const pids: Record<string, number> = {}
  let closing: Promise<void> | undefined
  const close = () => closing ??= closeAll(dataDir, lock, parts)
  try {
    const urls = { databaseUrl: databaseUrl ?? await addPostgres(), eventStoreUrl: '' }
    urls.eventStoreUrl = eventStoreUrl ?? await addEventStore(urls.databaseUrl)
    const publish = async (extra: Record<string, unknown>): Promise<void> => {
      if (role === 'start' && closing === undefined) writeRunFile(dataDir, { ...extra, lock: lock.number, ...urls, pids })
    }
    const lost = firstLost(parts)
    return { ...urls, dataIn: dataIn(dataDir, request), joined: false, pids, lost, publish, close }
  } catch (error) {
    await close()
    throw explained(dataDir, error)
  }

  async function addPostgres (): Promise<string> {
    const postgres = await startPostgres({ dir: dataDir, log })
    parts.push(postgres)
    Object.assign(pids, { postgres: postgres.pid, postgresSupervisor: postgres.supervisorPid })
    return postgres.url
  }

  async function addEventStore (url: string): Promise<string> {
    const wanted = role === 'start' ? request.eventStorePort : 0
    const port = await eventStorePort({ dataDir, wanted, log })
    const eventStore = await startEventStoreProcess(dataDir, url, port)
    parts.push(eventStore)
    pids.eventStore = eventStore.pid
    return eventStore.url
  }
}

/** A part that ends because of the first one, which it lives on, may be noticed before it. */
async function firstLost (parts: readonly Part[]): Promise<Error> {
  const noticed = await Promise.race(parts.map(({ lost }) => lost))
  return await Promise.race([parts[0]?.lost ?? noticed, delay(causeWithinMs, noticed)])
}

async function closeAll (dataDir: string, lock: Lock, parts: Part[]): Promise<void> {
  removeRunFile(dataDir) // first, so that no command joins a stack that is about to end
  try {
    for (const part of parts.toReversed()) await part.close()
  } finally {
    lock.release()
  }
}
